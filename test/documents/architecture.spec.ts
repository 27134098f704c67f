import { describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { filesBelow, pathOf, textOf } from './checkout-files.js';

interface Side {
  path?: string | string[];
  pathNot?: string | string[];
}
interface Rule {
  from: Side;
  to: Side;
}

const { forbidden } = createRequire(import.meta.url)(pathOf('.dependency-cruiser.cjs')) as {
  forbidden: Rule[];
};
const libraries = readdirSync(pathOf('libs')).sort();
const page = textOf('docs/architecture.md');

const listed = (patterns: string | string[] | undefined): string[] => [patterns ?? []].flat();

/** The first group of a match replaces `$1` in the patterns of the other side. */
function forbids({ from, to }: Rule, importer: string, imported: string): boolean {
  if (to.path === undefined) return false;
  const sources = listed(from.path);
  const matches = sources
    .map((pattern) => new RegExp(pattern).exec(importer))
    .filter((match) => match !== null);
  if (sources.length > 0 && matches.length === 0) return false;
  if (listed(from.pathNot).some((pattern) => new RegExp(pattern).test(importer))) return false;
  const group = matches.find((match) => match[1] !== undefined)?.[1] ?? '';
  const covers = (patterns: string | string[] | undefined) =>
    listed(patterns).some((pattern) => new RegExp(pattern.replaceAll('$1', group)).test(imported));
  return covers(to.path) && !covers(to.pathNot);
}

const mayImport = (importer: string, imported: string): boolean =>
  !forbidden.some((rule) => forbids(rule, importer, imported));

/** Everything that is reachable from `start` along the arrows of the diagram. */
function reached(arrows: Map<string, string[]>, start: string): Set<string> {
  const found = new Set<string>();
  const open = [start];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const each of arrows.get(next) ?? []) {
      if (!found.has(each)) open.push(each);
      found.add(each);
    }
  }
  return found;
}

describe('docs/architecture.md', () => {
  it('draws the import directions that the boundary lint enforces', () => {
    const [, picture = ''] = /<!-- imports -->\n\n```mermaid\n([^]*?)```/.exec(page) ?? [];
    const arrows = new Map<string, string[]>();
    for (const [, from = '', to = ''] of picture.matchAll(/^ +(\w+) --> (\w+)$/gm)) {
      arrows.set(from, [...(arrows.get(from) ?? []), to]);
    }
    const drawn = [...libraries, 'apps'].map((from) => [from, [...reached(arrows, from)].sort()]);
    const enforced = [...libraries, 'apps'].map((from) => {
      const importer = from === 'apps' ? 'apps/gateway/src/main.ts' : `libs/${from}/src/a.ts`;
      const others = libraries.filter((to) => to !== from);
      return [from, others.filter((to) => mayImport(importer, `libs/${to}/src/index.ts`))];
    });
    expect(drawn).toEqual(enforced);
  });

  it('lists the tables that the migrations make', () => {
    const sources = filesBelow('libs/persistence/src').filter((name) => !name.endsWith('.spec.ts'));
    const made = sources.flatMap((name) =>
      [...textOf(name).matchAll(/^CREATE TABLE (?:IF NOT EXISTS )?(\w+) \(/gm)].map(
        ([, table = '']) => table,
      ),
    );
    const [, section = ''] = /\n## The tables\n([^]*?)\n## /.exec(page) ?? [];
    const described = [...section.matchAll(/^\| `(\w+)` /gm)].map(([, table = '']) => table);
    expect(described.sort()).toEqual(made.sort());
  });
});
