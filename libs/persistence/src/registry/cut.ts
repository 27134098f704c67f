import { type Condition, listedNodes, type PageAsk, type Query, query } from './page-query.js';
import { orderBy, reversed, sortColumns, type SortKey, totalOrder } from './sorting.js';

export type Read = <Row extends object>(query: Query) => Promise<Row[]>;

/** Who asks the database, and how many nodes are few enough to be sorted, whatever they are sorted by. */
interface Reader {
  read: Read;
  mostSorted: number;
}

/** What the conditions let through, in an order, of which `limit` nodes are wanted from `offset` on. */
interface Cut {
  conditions: readonly Condition[];
  keys: readonly SortKey[];
  offset: number;
  limit: number;
}

/** The ids of a page of the `total` nodes. A page that is nearer to the end is cut from there. */
export async function cutPage(read: Read, ask: PageAsk, total: number, mostSorted = 2000): Promise<string[]> {
  const end = Math.min(ask.offset + ask.limit, total);
  const fromEnd = total - end < ask.offset;
  const keys = totalOrder(ask.sort);
  const ids = await cut(
    { read, mostSorted },
    {
      conditions: listedNodes(ask),
      keys: fromEnd ? reversed(keys) : keys,
      offset: fromEnd ? total - end : ask.offset,
      limit: end - ask.offset,
    },
    total <= mostSorted,
  );
  return fromEnd ? ids.toReversed() : ids;
}

/**
 * No index has the order of several columns. So the first column's index tells which of its values the page holds:
 * the first and the last of them may be shared by many more nodes, of which some are cut out by the columns that
 * follow; those of the values between are all on the page.
 */
async function cut(reader: Reader, asked: Cut, few: boolean): Promise<string[]> {
  const { read } = reader;
  const { conditions, keys } = asked;
  const [key, ...rest] = keys;
  if (key === undefined || hasIndex(keys) || few) return sorted(read, asked);
  const { groups, skipped } = await groupsOf(read, asked, key);
  const [first, last] = [groups[0], groups.at(-1)];
  if (first === undefined || last === undefined) return [];
  const inGroup = async ({ value, nodes }: Group, offset: number) => {
    const within = [...conditions, equals(key, value)];
    const place = { conditions: within, keys: rest, offset, limit: nodes };
    return hasIndex(rest) ? sorted(read, place) : cut(reader, place, await areFew(reader, within));
  };
  const ids = await inGroup(first, skipped);
  if (groups.length === 1) return ids;
  const between = groups.slice(1, -1).reduce((sum, { nodes }) => sum + nodes, 0);
  if (between > 0) {
    const range = [...conditions, follows(key, first.value), precedes(key, last.value)];
    ids.push(...(await sorted(read, { conditions: range, keys, offset: 0, limit: between })));
  }
  return [...ids, ...(await inGroup(last, 0))];
}

/** Each index ends in the id, and can be read backwards. */
const hasIndex = ([first, second]: readonly SortKey[]): boolean =>
  first?.column === 'id' || (second?.column === 'id' && first?.descending === second.descending);

async function sorted(read: Read, { conditions, keys, offset, limit }: Cut): Promise<string[]> {
  const rows = await read<{ id: string }>(
    query(
      conditions,
      (where, value) =>
        `SELECT id FROM node WHERE ${where} ORDER BY ${orderBy(keys)} LIMIT ${value(limit)} OFFSET ${value(offset)}`,
    ),
  );
  return rows.map(({ id }) => id);
}

/** How many nodes of the page have the same value. */
interface Group {
  value: string | null;
  nodes: number;
}

/** What the page holds, by the values of a column, and how many nodes with the first value come before the page. */
async function groupsOf(read: Read, asked: Cut, key: SortKey): Promise<{ groups: Group[]; skipped: number }> {
  const { conditions, offset, limit } = asked;
  const { descending } = key;
  const indexed = orderBy([key, { column: 'id', descending }]);
  // Only the values that are taken are made texts, not those that are passed over.
  const walked = await read<{ id: string; value: string | null }>(
    query(
      conditions,
      (where, value) => `
        SELECT id, value::text FROM (
          SELECT id, ${sortColumns[key.column]} AS value FROM node WHERE ${where}
            ORDER BY ${indexed} LIMIT ${value(limit)} OFFSET ${value(offset)}
        ) AS walked`,
    ),
  );
  const groups: Group[] = [];
  for (const { value } of walked) {
    const group = groups.at(-1);
    if (group?.value === value) group.nodes += 1;
    else groups.push({ value, nodes: 1 });
  }
  const [first] = walked;
  if (first === undefined || offset === 0) return { groups, skipped: 0 };
  return { groups, skipped: await skippedOf(read, asked, key, first) };
}

/** Most nodes at the beginning of an order that are searched for the beginning of a group. */
const searched = 5000;

/**
 * How many nodes before the page have the page's first value. A large group often begins with the order itself, and
 * then its length need not be read; any other is counted up to the page's first node, as the index has them.
 */
async function skippedOf(
  read: Read,
  { conditions, offset }: Cut,
  key: SortKey,
  first: { id: string; value: string | null },
): Promise<number> {
  const same = equals(key, first.value);
  const [beginning] = await read<{ nodes: number }>(
    query(
      conditions,
      (where, value) => `
        SELECT count(*) FILTER (WHERE ${same(value)})::integer AS nodes FROM (
          SELECT ${sortColumns[key.column]} FROM node WHERE ${where}
            ORDER BY ${orderBy([key])} LIMIT ${value(Math.min(offset, searched))}
        ) AS beginning`,
    ),
  );
  const found = beginning?.nodes ?? 0;
  if (offset <= searched) return found;
  if (found > 0) return offset - (searched - found);
  const passed: Condition = (value) => `id ${key.descending ? '>' : '<'} ${value(first.id)}`;
  const [counted] = await read<{ nodes: number }>(
    query(
      [...conditions, same, passed],
      (where) => `SELECT count(*)::integer AS nodes FROM node WHERE ${where}`,
    ),
  );
  return counted?.nodes ?? 0;
}

/** Whether there are few enough to be sorted. Looked for in an order, since that is looked for in an index. */
async function areFew({ read, mostSorted }: Reader, conditions: readonly Condition[]): Promise<boolean> {
  const more = { conditions, keys: totalOrder([]), offset: mostSorted, limit: 1 };
  return (await sorted(read, more)).length === 0;
}

function equals({ column }: SortKey, given: string | null): Condition {
  const name = sortColumns[column];
  return (value) => (given === null ? `${name} IS NULL` : `${name} = ${value(given)}`);
}

/** Between a value and another one that comes after it nothing is missing: what is missing is at the end. */
const follows = (key: SortKey, given: string | null): Condition =>
  beyond(key, given, key.descending ? '<' : '>');
const precedes = (key: SortKey, given: string | null): Condition =>
  beyond(key, given, key.descending ? '>' : '<');

function beyond({ column }: SortKey, given: string | null, sign: '<' | '>'): Condition {
  const name = sortColumns[column];
  return (value) => (given === null ? `${name} IS NOT NULL` : `${name} ${sign} ${value(given)}`);
}
