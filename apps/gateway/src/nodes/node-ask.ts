import { RouterError } from '#errors';
import { type SortColumn, sortColumns, type SortKey } from '#persistence';
import { momentOf } from '#schemas';

/** A query as the framework parsed it: what was repeated is an array. */
export type Query = Readonly<Record<string, string | string[] | undefined>>;

/** What a caller of `GET /nodes` asks for. */
export interface NodeAsk {
  page: number;
  limit: number;
  latest: boolean;
  sort: SortKey[];
  ids?: string[];
  changedAfter?: Date;
  withoutBanned: boolean;
  /** Systems a node has to run on. */
  systems: string[];
  accelerator?: string;
  appVersion?: string;
}

const byDefault = 10;
const most = 100;
const descendingMark = ';desc';

const aliases: Readonly<Record<string, SortColumn>> = {
  create_time: 'created_at',
  total_install: 'downloads',
  total_star: 'github_stars',
  last_updated: 'updated_at',
};

/** The endings of a form factor that name a system; any other form factor narrows nothing. */
const formFactorSystems = [
  [/-win(dows)?$/, 'Microsoft :: Windows'],
  [/-mac$/, 'MacOS'],
  [/-linux$/, 'POSIX :: Linux'],
] as const;

/** Reads a query; throws `invalid_input` for a value of the wrong type. Texts and list items that are empty count as absent. */
export function nodeAsk(query: Query): NodeAsk {
  const page = integer(query, 'page') ?? 1;
  const limit = integer(query, 'limit') ?? byDefault;
  const ids = items(query, 'node_id');
  const timestamp = once(query, 'timestamp');
  const accelerator = text(query, 'supported_accelerator');
  const appVersion = text(query, 'app_version');
  const formFactor = text(query, 'form_factor') ?? '';
  const asked = text(query, 'supported_os');
  const implied = formFactorSystems.find(([ending]) => ending.test(formFactor))?.[1];
  return {
    page: Math.min(Math.max(page, 1), Number.MAX_SAFE_INTEGER),
    limit: limit <= 0 ? byDefault : Math.min(limit, most),
    latest: boolean(query, 'latest') ?? false,
    sort: sortKeys(items(query, 'sort')),
    // No node has a NUL in its id, and the database takes none in a text.
    ...(ids.length > 0 && { ids: [...new Set(ids)].filter((id) => !id.includes('\0')).sort() }),
    ...(timestamp !== undefined && { changedAfter: moment('timestamp', timestamp) }),
    withoutBanned: boolean(query, 'include_banned') === false,
    systems: [...new Set([asked, implied])].filter((system) => system !== undefined),
    ...(accelerator !== undefined && { accelerator }),
    ...(appVersion !== undefined && { appVersion }),
  };
}

function sortKeys(terms: readonly string[]): SortKey[] {
  const keys = new Map<SortColumn, SortKey>();
  for (const term of terms) {
    const descending = term.endsWith(descendingMark);
    const name = descending ? term.slice(0, -descendingMark.length) : term;
    const column = Object.hasOwn(aliases, name) ? aliases[name] : name;
    if (column === undefined || !isSortColumn(column)) {
      const names = [...Object.keys(sortColumns), ...Object.keys(aliases)].join(', ');
      throw refusal(`sort takes ${names}, each with ${descendingMark} behind it or without.`);
    }
    // Behind a column it has no effect a second time.
    if (!keys.has(column)) keys.set(column, { column, descending });
  }
  return [...keys.values()];
}

const isSortColumn = (name: string): name is SortColumn => Object.hasOwn(sortColumns, name);

/** An array in any of its spellings: `x=a`, `x=a&x=b`, `x[]=a&x[]=b`. */
const items = (query: Query, name: string): string[] =>
  [query[name] ?? [], query[`${name}[]`] ?? []].flat().filter((item) => item !== '');

function once(query: Query, name: string): string | undefined {
  const given = query[name];
  if (Array.isArray(given)) throw refusal(`${name} must be given once.`);
  return given;
}

const text = (query: Query, name: string): string | undefined => once(query, name) || undefined;

function integer(query: Query, name: string): number | undefined {
  const given = once(query, name);
  if (given === undefined) return undefined;
  if (!/^-?\d+$/.test(given)) throw refusal(`${name} must be an integer.`);
  return Number(given);
}

function boolean(query: Query, name: string): boolean | undefined {
  const given = once(query, name)?.toLowerCase();
  if (given === undefined) return undefined;
  if (given !== 'true' && given !== 'false') throw refusal(`${name} must be true or false.`);
  return given === 'true';
}

function moment(name: string, given: string): Date {
  const time = momentOf(given);
  if (time === null) throw refusal(`${name} must be a date and time in ISO 8601.`);
  return time;
}

const refusal = (sentence: string) => new RouterError('invalid_input', sentence);
