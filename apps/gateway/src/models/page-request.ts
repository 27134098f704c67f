import { RouterError } from '#errors';

export type Query = Record<string, string | string[] | undefined>;

const byDefault = 20;
const most = 100;

/** The page size to serve: 20 by default and for 0 and less, at most 100. Not an integer: `invalid_input`. */
export function pageLimit(query: Query): number {
  const { limit } = query;
  if (limit === undefined) return byDefault;
  if (typeof limit !== 'string' || !/^-?\d+$/.test(limit)) {
    throw new RouterError('invalid_input', 'limit must be an integer.');
  }
  const asked = Number(limit);
  return asked <= 0 ? byDefault : Math.min(asked, most);
}

/** The cursor as it was given; undefined for the first page. */
export function pageCursor(query: Query): string | undefined {
  const { cursor } = query;
  if (Array.isArray(cursor)) throw new RouterError('invalid_input', 'cursor must be given once.');
  return cursor;
}
