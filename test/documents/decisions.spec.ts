import { describe, expect, it } from '@jest/globals';
import path from 'node:path';
import { filesBelow, textOf } from './checkout-files.js';

const folder = 'docs/decisions';
const records = filesBelow(folder).filter((name) => name !== `${folder}/README.md`);

describe('decision records', () => {
  it('are numbered without a gap', () => {
    const numbers = records.map((name) => path.basename(name).slice(0, 5));
    expect(numbers).toEqual(records.map((_name, index) => `${String(index + 1).padStart(4, '0')}-`));
  });

  it('are indexed in their order, by their titles', () => {
    const index = [...textOf(`${folder}/README.md`).matchAll(/^- \[(.+)\]\((.+)\)$/gm)];
    const titles = records.map((name) => [
      textOf(name).split('\n')[0]?.replace('# ', ''),
      path.basename(name),
    ]);
    expect(index.map(([, title, file]) => [title, file])).toEqual(titles);
  });

  it.each(records)('%s has its number, a date and its three parts', (name) => {
    const [title, , date] = textOf(name).split('\n');
    expect(title).toMatch(new RegExp(`^# ${Number(path.basename(name).slice(0, 4))}\\. \\S`));
    expect(date).toMatch(/^Date: \d{4}-\d{2}-\d{2}$/);
    const headings = [...textOf(name).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Context', 'Decision', 'Consequences']);
  });
});
