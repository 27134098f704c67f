import { type NodeKind, nodesOf, ofKinds, type PassingKinds } from './kinds.js';
import { type Condition, type PageAsk, type Query, query, singleFilters } from './page-query.js';
import { orderBy, reversed, sortColumns, type SortKey, totalOrder } from './sorting.js';

export type Read = <Row extends object>(query: Query) => Promise<Row[]>;

/** Who asks the database, and how many nodes are few enough to be sorted, whatever they are sorted by; deep in a group twice as many. */
interface Reader {
  read: Read;
  mostSorted: number;
}

/** Nodes of some of all kinds that meet the conditions, in an order; `limit` of them are wanted from `offset` on. */
interface Cut extends PassingKinds {
  conditions: readonly Condition[];
  /** How many nodes these are, if that is known. */
  nodes?: number;
  /** The last column in which they are equal. */
  groupedBy?: SortKey;
  keys: readonly SortKey[];
  offset: number;
  limit: number;
}

/** How many nodes pass the filters. */
export const totalOf = (read: Read, ask: PageAsk, passing: PassingKinds): Promise<number> =>
  count(read, passing, singleFilters(ask));

/** Counts nodes; where nothing but their kinds is asked, that has been done. */
async function count(read: Read, some: PassingKinds, conditions: readonly Condition[]): Promise<number> {
  if (conditions.length === 0) return nodesOf(some.kinds);
  const asked = query(
    [...ofKinds(some), ...conditions],
    (where) => `SELECT count(*)::integer AS total FROM node WHERE ${where}`,
  );
  const [counted] = await read<{ total: number }>({ ...asked, isCount: true });
  return counted?.total ?? 0;
}

/** The ids of a page of the `total` nodes that pass. A page that is nearer to the end is cut from there. */
export async function cutPage(
  read: Read,
  ask: PageAsk,
  passing: PassingKinds,
  total: number,
  mostSorted = 2000,
): Promise<string[]> {
  const end = Math.min(ask.offset + ask.limit, total);
  const fromEnd = total - end < ask.offset;
  const keys = totalOrder(ask.sort);
  const ids = await cut(
    { read, mostSorted },
    {
      ...passing,
      conditions: singleFilters(ask),
      nodes: total,
      keys: fromEnd ? reversed(keys) : keys,
      offset: fromEnd ? total - end : ask.offset,
      limit: end - ask.offset,
    },
  );
  return fromEnd ? ids.toReversed() : ids;
}

/** How deep in a group a page lies that is not looked for in the index of its order. */
const deep = 500;

async function cut(reader: Reader, asked: Cut): Promise<string[]> {
  const { read, mostSorted } = reader;
  const { keys, nodes, groupedBy, offset } = asked;
  // An index of the order leads past the nodes of all other groups.
  const isDeep = groupedBy !== undefined && keys[0]?.column !== 'id' && offset > deep;
  if (hasIndex(keys) && !isDeep) return sorted(read, asked);
  const few = isDeep ? 2 * mostSorted : mostSorted;
  const areFew = nodes === undefined ? await haveNoMore(read, asked, few) : nodes <= few;
  if (areFew) return isDeep ? sortedApart(read, asked) : sorted(read, asked);
  if (hasIndex(keys)) return sorted(read, asked);
  return keys[0]?.column === 'status' ? cutStatuses(reader, asked) : cutGroups(reader, asked);
}

/** Nodes of one kind have one status: an order that begins with it falls into parts, which need only be counted. */
async function cutStatuses(reader: Reader, asked: Cut): Promise<string[]> {
  const [key, ...keys] = asked.keys;
  const parts = byStatus(asked.kinds, key?.descending ?? false);
  const sizes = await sizesOf(reader.read, asked, parts);
  const ids: string[] = [];
  let { offset } = asked;
  for (const [index, kinds] of parts.entries()) {
    const nodes = sizes[index] ?? 0;
    const limit = Math.min(asked.limit - ids.length, nodes - offset);
    if (limit > 0) ids.push(...(await cut(reader, { ...asked, kinds, nodes, keys, offset, limit })));
    offset = Math.max(offset - nodes, 0);
  }
  return ids;
}

/** How many nodes there are in each part. The largest is what the others leave, if it is known how many there are in all. */
async function sizesOf(read: Read, asked: Cut, parts: readonly NodeKind[][]): Promise<number[]> {
  const { nodes, conditions, all } = asked;
  const most = Math.max(...parts.map(nodesOf));
  const largest = nodes === undefined ? -1 : parts.findIndex((kinds) => nodesOf(kinds) === most);
  const sizes: number[] = [];
  for (const [index, kinds] of parts.entries())
    sizes.push(index === largest ? 0 : await count(read, { kinds, all }, conditions));
  if (nodes !== undefined) sizes[largest] = nodes - sizes.reduce((sum, each) => sum + each, 0);
  return sizes;
}

function byStatus(kinds: readonly NodeKind[], descending: boolean): NodeKind[][] {
  const statuses = [...new Set(kinds.map(({ status }) => status))].toSorted();
  if (descending) statuses.reverse();
  return statuses.map((status) => kinds.filter((kind) => kind.status === status));
}

/**
 * No index has the order of several columns. So the first column's index tells which of its values the page holds:
 * the first and the last of them may be shared by many more nodes, of which some are cut out by the columns that
 * follow; those of the values between are all on the page.
 */
async function cutGroups(reader: Reader, asked: Cut): Promise<string[]> {
  const { read } = reader;
  const { conditions, keys } = asked;
  const [key, ...rest] = keys;
  if (key === undefined) return sorted(read, asked);
  const { groups, skipped } = await groupsOf(read, asked, key);
  const [first, last] = [groups[0], groups.at(-1)];
  if (first === undefined || last === undefined) return [];
  const inGroup = async ({ value, nodes }: Group, offset: number) => {
    const { kinds, all } = asked;
    const within = [...conditions, equals(key, value)];
    return cut(reader, { kinds, all, conditions: within, groupedBy: key, keys: rest, offset, limit: nodes });
  };
  const ids = await inGroup(first, skipped);
  if (groups.length === 1) return ids;
  const between = groups.slice(1, -1).reduce((sum, { nodes }) => sum + nodes, 0);
  if (between > 0) {
    const range = [...conditions, follows(key, first.value), precedes(key, last.value)];
    ids.push(...(await sorted(read, { ...asked, conditions: range, offset: 0, limit: between })));
  }
  return [...ids, ...(await inGroup(last, 0))];
}

const conditionsOf = (asked: Cut): Condition[] => [...ofKinds(asked), ...asked.conditions];

/** Each index ends in the id, and can be read backwards. A status needs none. */
const hasIndex = ([first, second]: readonly SortKey[]): boolean =>
  first?.column === 'id' ||
  (first?.column !== 'status' && second?.column === 'id' && first?.descending === second.descending);

async function sorted(read: Read, asked: Cut): Promise<string[]> {
  const { keys, offset, limit } = asked;
  const rows = await read<{ id: string }>(
    query(
      conditionsOf(asked),
      (where, value) =>
        `SELECT id FROM node WHERE ${where} ORDER BY ${orderBy(keys)} LIMIT ${value(limit)} OFFSET ${value(offset)}`,
    ),
  );
  return rows.map(({ id }) => id);
}

/** Finds the nodes before it sorts them, which the planner would not do where an index has the order. */
async function sortedApart(read: Read, asked: Cut): Promise<string[]> {
  const { keys, offset, limit } = asked;
  const columns = new Set(['id', ...keys.map(({ column }) => sortColumns[column])]);
  const rows = await read<{ id: string }>(
    query(
      conditionsOf(asked),
      (where, value) => `
        WITH few AS MATERIALIZED (SELECT ${[...columns].join(', ')} FROM node WHERE ${where})
        SELECT id FROM few ORDER BY ${orderBy(keys)} LIMIT ${value(limit)} OFFSET ${value(offset)}`,
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
  const { offset, limit } = asked;
  const { descending } = key;
  const indexed = orderBy([key, { column: 'id', descending }]);
  // Only the values that are taken are made texts, not those that are passed over.
  const walked = await read<{ id: string; value: string | null }>(
    query(
      conditionsOf(asked),
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

/** How many nodes before a page are looked at to learn how many of them have the page's first value. */
const searched = 5000;

/**
 * How many nodes before the page have the page's first value. Mostly few. A large group often begins with the order
 * itself, and then its length need not be read; any other is counted up to the page's first node.
 */
async function skippedOf(
  read: Read,
  asked: Cut,
  key: SortKey,
  first: { id: string; value: string | null },
): Promise<number> {
  const conditions = conditionsOf(asked);
  const same = equals(key, first.value);
  const passed: Condition = (value) => `id ${key.descending ? '>' : '<'} ${value(first.id)}`;
  const before = async (most: number | null): Promise<number> => {
    const [counted] = await read<{ nodes: number }>(
      query(
        [...conditions, same, passed],
        (where, value) => `
          SELECT count(*)::integer AS nodes FROM (SELECT FROM node WHERE ${where} LIMIT ${value(most)}) AS passed`,
      ),
    );
    return counted?.nodes ?? 0;
  };
  const few = await before(searched);
  if (few < searched) return few;
  const [beginning] = await read<{ nodes: number }>(
    query(
      conditions,
      (where, value) => `
        SELECT count(*) FILTER (WHERE ${same(value)})::integer AS nodes FROM (
          SELECT ${sortColumns[key.column]} FROM node WHERE ${where}
            ORDER BY ${orderBy([key])} LIMIT ${value(searched)}
        ) AS beginning`,
    ),
  );
  const found = beginning?.nodes ?? 0;
  return found > 0 ? asked.offset - (searched - found) : before(null);
}

/** Whether there are no more than so many. Looked for in an order, since that is looked for in an index. */
async function haveNoMore(read: Read, asked: Cut, nodes: number): Promise<boolean> {
  const keys = totalOrder(asked.groupedBy ? [{ ...asked.groupedBy, descending: false }] : []);
  return (await sorted(read, { ...asked, keys, offset: nodes, limit: 1 })).length === 0;
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
