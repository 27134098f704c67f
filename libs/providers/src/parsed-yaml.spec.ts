import { describe, expect, it } from '@jest/globals';
import { parsedYaml } from './parsed-yaml.js';

const row = { id: 'a/b', price: { usd: 0.01 }, list: [1, 'x', null, true], date: '2026-11-26' };
const written = `${JSON.stringify(row, undefined, 2)}\n`;

describe('parsedYaml', () => {
  it.each([
    ['as a program writes it', written],
    ['after comments', `# Generated.\n# Do not edit.\n${written}`],
    ['on one line', JSON.stringify(row)],
    ['with a comment in it', written.replace('\n', ' # the id\n')],
  ])('reads a row in JSON %s', (_what, text) => {
    expect(parsedYaml(text)).toEqual(row);
  });

  it('rejects two equal keys, which JSON would accept', () => {
    expect(() => parsedYaml(written.replace('"price"', '"id"'))).toThrow(/keys must be unique/i);
  });
});
