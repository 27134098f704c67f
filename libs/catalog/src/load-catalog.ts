import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Catalog, catalogOf } from './catalog.js';
import { type CatalogProblem, readRows } from './read-rows.js';

/** Some row cannot be used; nothing of the catalog is. */
export class BadCatalog extends Error {
  constructor(readonly problems: readonly CatalogProblem[]) {
    const lines = problems.map(
      ({ file, pointer, reason }) => `  - ${file}${pointer && `#${pointer}`}: ${reason}`,
    );
    super(`The catalog is not usable:\n${lines.join('\n')}`);
    this.name = 'BadCatalog';
  }
}

/**
 * The model rows that the providers bring. The compiler copies no YAML, so sources and build read the same
 * files: those below the package root, the nearest folder upwards that has a package.json. An image ships
 * them under the same relative path.
 */
export function builtInDirectories(from: string = import.meta.dirname): string[] {
  let root = from;
  while (!existsSync(join(root, 'package.json'))) {
    if (dirname(root) === root) throw new Error(`no package.json above ${from}`);
    root = dirname(root);
  }
  const providers = join(root, 'libs/providers/src/providers');
  return readdirSync(providers)
    .sort()
    .map((provider) => join(providers, provider, 'models'))
    .filter((directory) => existsSync(directory));
}

/** Reads and checks every row; throws `BadCatalog` with all problems. Later directories win. */
export async function loadCatalog({
  directories = builtInDirectories(),
}: { directories?: readonly string[] } = {}): Promise<Catalog> {
  const { found, problems } = await readRows(directories);
  if (problems.length > 0) throw new BadCatalog(problems);
  return catalogOf(found.map(({ model }) => model));
}
