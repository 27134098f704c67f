import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { pathOf, textOf } from './checkout-files.js';

const [, section = ''] =
  /\n## A walk through one queued run\n([^]*?)\n## /.exec(textOf('docs/architecture.md')) ?? [];
const steps = section.split(/^(?=\d+\. )/m).slice(1);
/** Every `path`, `function` of the section. */
const places = [...section.matchAll(/`((?:apps|libs)\/[\w./-]+)`,\s+`(\w+)`/g)].map(
  ([, path = '', name = '']) => ({ path, name }),
);

/** Whether the file declares a function or method of that name, or creates it as an SQL function. */
const declares = (text: string, name: string): boolean =>
  new RegExp(`^ *(?:[a-z]+ )*(?:function\\*? |const )?${name}\\b *(?:<[^>]*>)?(?:\\(| = |: )`, 'im').test(
    text,
  );

describe('the walk through one queued run in docs/architecture.md', () => {
  it('has at most 25 steps, each with a file and a function', () => {
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.length).toBeLessThanOrEqual(25);
    expect(steps.filter((step) => !/^\d+\. `[\w./-]+`, `\w+`/.test(step))).toEqual([]);
  });

  it.each(places)('finds $name in $path', ({ path, name }) => {
    expect(existsSync(pathOf(path))).toBe(true);
    expect(declares(textOf(path), name)).toBe(true);
  });

  it('gives the right number of files', () => {
    const [, named = ''] = /names\s+(\d+)\s+files/.exec(section) ?? [];
    expect(Number(named)).toBe(new Set(places.map(({ path }) => path)).size);
  });
});
