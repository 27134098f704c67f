import { isObject } from './intake/keywords.js';

/** What a row says of itself alone, and never takes from the row that it is like. */
const ownFields = ['id', 'aliases', 'servers', 'ends', 'successor'];

/**
 * A row that names another one of its directory in `like`, written out: the other row with this row's fields merged
 * in, as a JSON merge patch (RFC 7396), but for the example, which is whole. Any other row stays as it is. Throws when
 * it names no row of its own.
 */
export function likeAnother(row: unknown, byId: ReadonlyMap<unknown, unknown>): unknown {
  if (!isObject(row) || row['like'] === undefined) return row;
  const { like, ...own } = row;
  const other = byId.get(like);
  if (!isObject(other)) throw new Error(`no row in the same directory is ${JSON.stringify(like)}`);
  // One step only: who reads a row has two files to open, and no row can lead back to itself.
  if (other['like'] !== undefined) throw new Error(`${JSON.stringify(like)} is itself like another row`);
  const isShared = (name: string) => !ownFields.includes(name) && !(name === 'example' && own['example']);
  const shared = Object.entries(other).filter(([name]) => isShared(name));
  return merged(Object.fromEntries(shared), own);
}

function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
