import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ProviderDefinition, providerList, settingStem } from '#providers';
import { packageRoot } from '#schemas';
import { type Catalog, catalogOf } from './catalog.js';
import { digestOf, filesIn, revisionOfFiles } from './catalog-files.js';
import { type Model, servedBy } from './model.js';
import type { EndedModel } from './model-row.js';
import { type CatalogProblem, type DirectoryRows, type ModelOrNames, readDirectory } from './read-rows.js';

/** Thrown if any row is invalid. Nothing of the catalog is then used. */
export class BadCatalog extends Error {
  constructor(readonly problems: readonly CatalogProblem[]) {
    const lines = problems.map(
      ({ file, pointer, reason }) => `  - ${file}${pointer && `#${pointer}`}: ${reason}`,
    );
    super(`The catalog is not usable:\n${lines.join('\n')}`);
    this.name = 'BadCatalog';
  }
}

export interface CatalogSources {
  /** Later directories override earlier ones. */
  directories?: readonly string[];
  /** The providers of the release. A directory may declare more, or replace some of them. */
  builtIn?: readonly ProviderDefinition[];
}

/** Reads and checks all rows. Throws `BadCatalog` with all problems. */
export async function loadCatalog({
  directories = builtInDirectories(),
  builtIn = providerList,
}: CatalogSources = {}): Promise<Catalog> {
  const read = await readDirectories(directories);
  return catalogFrom(read, joinedRevision(read.map(({ revision }) => revision)), { builtIn });
}

/** Builds the catalog from rows. Throws `BadCatalog` with all problems. */
export function catalogFrom(
  directories: readonly DirectoryRows[],
  revision: string,
  {
    builtIn = providerList,
    nowMs = Date.now,
  }: Pick<CatalogSources, 'builtIn'> & { nowMs?: () => number } = {},
): Catalog {
  const { models, ended, providers, problems } = layered(directories, builtIn);
  if (problems.length > 0) throw new BadCatalog(problems);
  return catalogOf(
    models.map(({ model }) => model),
    { revision, ended, providers, nowMs },
  );
}

/**
 * The directories of the built-in model rows. The compiler does not copy YAML, so sources and build output read the
 * same files below the package root. An image has them at the same relative path.
 */
export function builtInDirectories(from?: string): string[] {
  const providers = join(packageRoot(from), 'libs/providers/src/providers');
  return readdirSync(providers)
    .sort()
    .map((provider) => join(providers, provider, 'models'))
    .filter((directory) => existsSync(directory));
}

/** The rows of the release by directory. Its files do not change, so a process reads them once. */
const ofRelease = new Map<string, Promise<DirectoryRows>>();

/** Reads and checks the rows of directories. */
export async function readDirectories(directories: readonly string[]): Promise<DirectoryRows[]> {
  const builtIn = new Set(builtInDirectories());
  return Promise.all(
    directories.map((directory) => {
      if (!builtIn.has(directory)) return readDirectory(directory);
      const known = ofRelease.get(directory) ?? readDirectory(directory);
      ofRelease.set(directory, known);
      return known;
    }),
  );
}

/**
 * A hash of the names and contents of all files from which rows are read. It does not require parsing the rows, and
 * does not depend on the location of the directories.
 */
export const revisionOf = async (directories: readonly string[]): Promise<string> =>
  joinedRevision(await directoryRevisions(directories));

/** The revision of a catalog, by the revisions of its directories in order. */
export const joinedRevision = (revisions: readonly string[]): string => digestOf(revisions.join('\n'));

export const directoryRevisions = (directories: readonly string[]): Promise<string[]> =>
  Promise.all(
    directories.map(async (directory) => revisionOfFiles(await filesIn(directory).catch(() => []))),
  );

/**
 * Merges the rows of several directories. A later directory replaces or hides rows of an earlier one. Returns the
 * built-in and declared providers, and the problems within files and between files.
 */
export function layered(
  directories: readonly DirectoryRows[],
  builtIn: readonly ProviderDefinition[] = providerList,
) {
  const rows = new Map<string, { file: string } & ModelOrNames>();
  const ended = new Map<string, EndedModel & { file: string }>();
  const declared = new Map<string, string>();
  const providers = new Map(builtIn.map((each) => [each.name, each]));
  const problems = directories.flatMap((directory) => directory.problems);
  for (const row of directories.flatMap(({ rows }) => rows)) {
    if ('provider' in row) {
      providers.set(row.id, row.provider);
      declared.set(row.id, row.file);
      continue;
    }
    rows.delete(row.id);
    ended.delete(row.id);
    if ('model' in row || 'names' in row) rows.set(row.id, row);
    else if ('ended' in row) ended.set(row.id, row);
  }
  const models: { file: string; model: Model }[] = [];
  const named: { file: string; id: string; aliases: readonly string[] }[] = [];
  for (const row of rows.values()) {
    const { file } = row;
    const { id, provider, aliases } = 'model' in row ? row.model : row.names;
    named.push({ file, id, aliases });
    const definition = providers.get(provider);
    if (definition === undefined) {
      const pointer = id.startsWith(`${provider}/`) ? '/id' : '/provider';
      problems.push({ file, pointer, reason: `there is no provider "${provider}"` });
    } else if ('model' in row) models.push({ file, model: servedBy(row.model, definition) });
  }
  named.push(...ended.values());
  for (const [name, file] of declared) {
    const stem = settingStem(name);
    const other = [...providers.keys()].find((each) => each !== name && settingStem(each) === stem);
    if (other !== undefined) {
      problems.push({
        file,
        pointer: '/provider',
        reason: `the provider "${other}" has the same settings, ${stem}_…`,
      });
    }
  }
  const owners = new Map(named.map(({ id }) => [id, id]));
  for (const { file, id, aliases } of named) {
    for (const [index, alias] of aliases.entries()) {
      const owner = owners.get(alias);
      owners.set(alias, id);
      if (owner === undefined) continue;
      problems.push({ file, pointer: `/aliases/${index}`, reason: `${alias} is already a name of ${owner}` });
    }
  }
  return {
    models,
    ended: [...ended.values()],
    providers: [...providers.values()],
    problems,
  };
}
