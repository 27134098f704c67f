import { z } from 'zod';
import { momentOf } from './moment.js';

/** The columns that `GET /nodes` sorts by. */
export const nodeSortColumns = [
  'id',
  'name',
  'author',
  'category',
  'created_at',
  'updated_at',
  'downloads',
  'github_stars',
  'rating',
  'search_ranking',
  'status',
] as const;

export type NodeSortColumn = (typeof nodeSortColumns)[number];

export interface NodeSort {
  column: NodeSortColumn;
  descending: boolean;
}

const aliases: Readonly<Record<string, NodeSortColumn>> = {
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

const defaultLimit = 10;
const maxLimit = 100;
const descendingSuffix = ';desc';

const once = (name: string) => z.string({ error: `${name} must be given once.` });

/** An empty text counts as absent. */
const text = (name: string) =>
  once(name)
    .transform((given) => given || undefined)
    .optional();

const integer = (name: string) =>
  once(name)
    .regex(/^-?\d+$/, `${name} must be an integer.`)
    .transform(Number);

const boolean = (name: string) =>
  once(name)
    .toLowerCase()
    .pipe(z.enum(['true', 'false'], `${name} must be true or false.`))
    .transform((given) => given === 'true');

const moment = (name: string) =>
  once(name).transform((given, context) => {
    const time = momentOf(given);
    if (time !== null) return time;
    context.addIssue(`${name} must be a date and time in ISO 8601.`);
    return z.NEVER;
  });

/** Given once or repeated; empty items count as absent. */
const items = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().filter((item) => item !== ''))
  .default([]);

/** The query parameters of `GET /nodes`, as they arrive in a URL. Arrays may be written with or without `[]`. */
export const nodeQuery = z
  .object({
    page: integer('page').default(1),
    limit: integer('limit').default(defaultLimit),
    node_id: items,
    'node_id[]': items,
    timestamp: moment('timestamp').optional(),
    supported_accelerator: text('supported_accelerator'),
    app_version: text('app_version'),
    form_factor: text('form_factor'),
    supported_os: text('supported_os'),
    latest: boolean('latest').default(false),
    sort: items,
    'sort[]': items,
    include_banned: boolean('include_banned').default(true),
  })
  .transform((given, context) => {
    const nodeIds = [...given.node_id, ...given['node_id[]']];
    const system = formFactorSystems.find(([ending]) => ending.test(given.form_factor ?? ''))?.[1];
    return {
      page: Math.min(Math.max(given.page, 1), Number.MAX_SAFE_INTEGER),
      limit: given.limit <= 0 ? defaultLimit : Math.min(given.limit, maxLimit),
      latest: given.latest,
      sort: sortKeys([...given.sort, ...given['sort[]']], context),
      /** Sorted and without duplicates, so that equal queries have equal cache keys. */
      nodeIds: nodeIds.length > 0 ? [...new Set(nodeIds)].sort() : undefined,
      changedAfter: given.timestamp,
      includeBanned: given.include_banned,
      operatingSystems: [...new Set([given.supported_os, system])].filter((each) => each !== undefined),
      accelerator: given.supported_accelerator,
      appVersion: given.app_version,
    };
  });

export type NodeQuery = z.output<typeof nodeQuery>;

function sortKeys(terms: readonly string[], context: z.RefinementCtx): NodeSort[] {
  const keys = new Map<NodeSortColumn, NodeSort>();
  for (const term of terms) {
    const descending = term.endsWith(descendingSuffix);
    const name = descending ? term.slice(0, -descendingSuffix.length) : term;
    const column = Object.hasOwn(aliases, name)
      ? aliases[name]
      : nodeSortColumns.find((each) => each === name);
    if (column === undefined) {
      const names = [...nodeSortColumns, ...Object.keys(aliases)].join(', ');
      context.addIssue(`sort takes ${names}, each optionally followed by ${descendingSuffix}.`);
      return z.NEVER;
    }
    // A column that is named again changes nothing.
    if (!keys.has(column)) keys.set(column, { column, descending });
  }
  return [...keys.values()];
}
