import { builtInDirectories, type Catalog, loadCatalog, mayMatch } from '#catalog';
import { unknownName } from './unknown-name.js';

/** The catalog of this release, with the operator's own rows if the environment names their directory. */
export const catalogOf = ({ CATALOG_DIR: directory }: NodeJS.ProcessEnv): Promise<Catalog> =>
  loadCatalog({ directories: [...builtInDirectories(), ...(directory ? [directory] : [])] });

/** Resolves the id or an alias of a model to its id. */
export async function knownModel(env: NodeJS.ProcessEnv, name: string): Promise<string> {
  const catalog = await catalogOf(env);
  const id = catalog.idOf(name);
  const ids = [...catalog.models, ...catalog.ended].map((model) => model.id);
  if (!ids.includes(id)) throw unknownName('model', name, ids);
  return id;
}

/** Throws if a glob matches no model, which is probably a typo. */
export async function checkGlobs(env: NodeJS.ProcessEnv, globs: readonly string[]): Promise<void> {
  if (globs.every((glob) => glob === '**')) return;
  const { models } = await catalogOf(env);
  const empty = globs.find((glob) => !models.some(({ id }) => mayMatch([glob], id)));
  if (empty === undefined) return;
  throw unknownName(
    'model',
    empty,
    models.map(({ id }) => id),
  );
}
