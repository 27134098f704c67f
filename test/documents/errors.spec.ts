import { bucketNames } from '#errors';
import { describe, expect, it } from '@jest/globals';
import { textOf } from './checkout-files.js';
import { saidErrors } from './said-errors.js';

const said = saidErrors();
const pages: [name: string, file: string][] = [
  ...bucketNames.map((bucket): [string, string] => [bucket, `docs/errors/${bucket}.md`]),
  ['registry', 'docs/registry.md'],
];
const unique = (texts: string[]): string[] => [...new Set(texts)].sort();

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
const patternOf = (text: string): RegExp => new RegExp(`^${text.split('…').map(escaped).join('.*')}$`);

describe.each(pages)('the page of %s', (name, file) => {
  const texts = unique(said.filter(({ page }) => page === name).map(({ text }) => text));

  it('lists every text of the service, and no other', () => {
    const [, section = ''] = textOf(file).split(/^## What the service says$/m);
    const listed = [...(section.split(/^## /m)[0] ?? '').matchAll(/^- `(.+)`$/gm)].map(
      ([, text = '']) => text,
    );
    expect(listed).toEqual(texts);
    expect(texts.length).toBeGreaterThan(0);
  });

  it('shows examples of these texts', () => {
    const shown = [...textOf(file).matchAll(/"detail": "((?:\\"|[^"])+)"/g)].map(([, text = '']) =>
      text.replaceAll('\\"', '"'),
    );
    expect(shown.filter((text) => !texts.some((each) => patternOf(each).test(text)))).toEqual([]);
  });
});

it('the page of invalid_input lists every type in a 422, and no other', () => {
  const words = textOf('libs/catalog/src/vocabulary.ts');
  const types = [...words.matchAll(/(?:type: |bounded\(|expected\()'(\w+)'|size\('\w+', '(\w+)'/g)].map(
    ([, one, other]) => one ?? other ?? '',
  );
  const [, section = ''] = textOf('docs/errors/invalid_input.md').split(/^## The types of a 422$/m);
  const listed = [...(section.split(/^## /m)[0] ?? '').matchAll(/^\| `(\w+)` +\|/gm)].map(([, type]) => type);
  expect(listed.slice(1)).toEqual(unique(types));
});

it.each([
  ['TypeScript', 'libs/client/src/router-error.ts', /bucketNames = \[([^\]]+)\]/],
  ['Python', 'libs/client/python/model_router/_errors.py', /^BUCKETS = \(([^)]+)\)/m],
])('the %s client lists the service’s buckets, in order', (_language, file, list) => {
  const [, names = ''] = list.exec(textOf(file)) ?? [];
  expect([...names.matchAll(/['"](\w+)['"]/g)].map(([, name]) => name)).toEqual(bucketNames);
});
