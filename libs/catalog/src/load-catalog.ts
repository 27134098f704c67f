import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { StartupError } from '#errors';
import { type Catalog, catalogOf } from './catalog.js';
import { packageRoot } from './parsed-rows.js';
import { type ProviderDefinition, providerList, settingStem } from '#providers';
import {
  type CatalogProblem,
  type DirectoryRows,
  layered,
  type LayeredRows,
  namesIn,
  readDirectory,
} from './read-rows.js';

/** Some row cannot be used; nothing of the catalog is. */
export class BadCatalog extends StartupError {
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
 * files, those below the package root. An image ships
 * them under the same relative path.
 */
export function builtInDirectories(from?: string): string[] {
  const providers = join(packageRoot(from), 'libs/providers/src/providers');
  return readdirSync(providers)
    .sort()
    .map((provider) => join(providers, provider, 'models'))
    .filter((directory) => existsSync(directory));
}

export interface CatalogSources {
  /** Later ones win. */
  directories?: readonly string[];
  /** The providers of the release; a directory may declare others, or one of these anew. */
  builtIn?: readonly ProviderDefinition[];
}

interface ReadCatalog extends LayeredRows {
  /** Those of the release and those declared, by name. */
  definitions: ProviderDefinition[];
}

/** Every row of the directories, with the problems between files too. */
export async function readCatalog({
  directories = builtInDirectories(),
  builtIn = providerList,
}: CatalogSources): Promise<ReadCatalog> {
  return together(await Promise.all(directories.map(readDirectory)), builtIn);
}

function together(
  directories: readonly DirectoryRows[],
  builtIn: readonly ProviderDefinition[],
): ReadCatalog {
  const rows = layered(directories);
  const declared = rows.providers.map(({ content }) => content);
  const definitions = [...new Map([...builtIn, ...declared].map((each) => [each.name, each])).values()];
  const names = new Set(definitions.map(({ name }) => name));
  const homeless = rows.models
    .filter(({ content }) => !names.has(content.provider))
    .map(({ file, content }) => ({
      file,
      pointer: '/id',
      reason: `no provider is named ${content.provider}`,
    }));
  const mistaken = rows.providers.flatMap(({ file, content: { name } }) => {
    const stem = settingStem(name);
    const other = definitions.find((each) => each.name !== name && settingStem(each.name) === stem);
    if (other === undefined) return [];
    return [{ file, pointer: '/provider', reason: `${other.name} has the same settings, ${stem}_…` }];
  });
  return { ...rows, definitions, problems: [...rows.problems, ...homeless, ...mistaken] };
}

/** The catalog of rows that were read before; throws `BadCatalog` with all problems. */
export function catalogFrom(
  directories: readonly DirectoryRows[],
  revision: string,
  builtIn: readonly ProviderDefinition[] = providerList,
): Catalog {
  const { models, definitions, problems } = together(directories, builtIn);
  if (problems.length > 0) throw new BadCatalog(problems);
  return catalogOf(
    models.map(({ content }) => content),
    { revision, providers: definitions },
  );
}

/** Reads and checks every row; throws `BadCatalog` with all problems. */
export async function loadCatalog({
  directories = builtInDirectories(),
  builtIn = providerList,
}: CatalogSources = {}): Promise<Catalog> {
  const revision = await revisionOf(directories);
  return catalogFrom(await Promise.all(directories.map(readDirectory)), revision, builtIn);
}

/**
 * Hash of everything that rows are read from, by the names and texts of the files: it is known without reading
 * the rows, and is the same wherever the directories lie.
 */
export async function revisionOf(directories: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const directory of directories) {
    const files = await namesIn(directory, /\.(ya?ml|json)$/).catch(() => []);
    for (const file of files) {
      const text = await readFile(file);
      hash.update(`${basename(file)} ${text.length}\n`).update(text);
    }
  }
  return hash.digest('hex');
}
