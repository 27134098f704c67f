import { type NodeSort, type NodeSortColumn, nodeSortColumns } from '#persistence';
import { z } from 'zod';
import { momentQuery, once, pageSize, readQuery } from '../http/query.pipe.js';

const descendingSuffix = ';desc';

/** The sort columns, by the names that a query may use. */
const sortNames = new Map<string, NodeSortColumn>([
  ...nodeSortColumns.map((column) => [column, column] as const),
  ['create_time', 'created_at'],
  ['update_time', 'updated_at'],
  ['last_updated', 'updated_at'],
  // Search indexes a node whenever it changes.
  ['last_algolia_index_time', 'updated_at'],
  ['total_install', 'downloads'],
  ['total_star', 'github_stars'],
  ['total_review', 'rating'],
  ['repository_url', 'repository'],
  ['icon_url', 'icon'],
  ['normalized_id', 'id'],
]);

/** Endings of a form factor that name a system. Other form factors do not filter. */
const formFactorSystems = [
  [/-win(dows)?$/, 'Microsoft :: Windows'],
  [/-mac$/, 'MacOS'],
  [/-linux$/, 'POSIX :: Linux'],
] as const;

const boolean = (byDefault: boolean, description: string) =>
  once()
    .pipe(z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'must be true or false' }))
    .default(byDefault)
    .meta({ type: 'boolean', default: byDefault, description });
/** An empty text counts as absent. */
const text = (description: string) =>
  once()
    .optional()
    .meta({ description })
    .transform((given) => given || undefined);

/** The query of a list of nodes. An array may be one value or a repeated parameter; empty items count as absent. */
export const nodeQuery = z.object({
  page: once()
    .regex(/^-?\d+$/, 'must be an integer')
    .default('1')
    .meta({ type: 'integer', default: 1, description: 'Page number; values below 1 count as 1.' })
    .transform((given) => Math.min(Math.max(Number(given), 1), Number.MAX_SAFE_INTEGER)),
  limit: pageSize(once(), 10),
  supported_os: text(
    'Only nodes that run on this system: those that list it, an ancestor of it (`POSIX :: Linux` covers `POSIX :: Linux :: Ubuntu`), `OS Independent`, or nothing.',
  ),
  supported_accelerator: text('Only nodes that list this accelerator, an ancestor of it, or nothing.'),
  include_banned: boolean(true, '`false` leaves out banned nodes and the nodes of banned publishers.'),
  timestamp: momentQuery(
    'Only nodes that were created or updated after this time, in ISO 8601. A new version updates its node.',
  ),
  latest: boolean(false, '`true` reads the database; otherwise the page may be up to 60 seconds old.'),
  sort: z
    .array(z.string())
    .default([])
    .meta({
      description:
        'Columns to sort by, the first one first; `;desc` after one sorts it in descending order. `id` (or `normalized_id`), `name`, `author`, `category`, `created_at` (`create_time`), `updated_at` (`update_time`, `last_updated`, `last_algolia_index_time`), `downloads` (`total_install`), `github_stars` (`total_star`), `rating` (`total_review`), `search_ranking`, `status`, `description`, `license`, `repository` (`repository_url`), `icon` (`icon_url`), `banner_url`, `publisher_id`, `status_detail`, `supported_app_version`, `supported_app_frontend_version`. A missing value sorts first, and last in a descending order.',
    })
    .transform(sortKeys),
  node_id: z
    .array(z.string())
    .default([])
    .meta({ description: 'Only nodes with these ids.' })
    // Sorted and without duplicates, so that equal queries have equal cache keys.
    .transform((ids) => (ids.length > 0 ? [...new Set(ids)].sort() : undefined)),
  app_version: text(
    'Only nodes that support this version of the host application, or that state no range of versions.',
  ),
  form_factor: text(
    'Platform of the request. A value that ends in `-win`, `-windows`, `-mac` or `-linux` filters like `supported_os`.',
  ).transform((given = '') => formFactorSystems.find(([ending]) => ending.test(given))?.[1]),
});

export type NodeQuery = z.output<typeof nodeQuery>;

/** Throws `invalid_input`. `parameters` come from a URL; a repeated one is an array. */
export function parseNodeQuery(
  parameters: Readonly<Record<string, string | string[] | undefined>>,
): NodeQuery {
  const items = (name: string): string[] =>
    [parameters[name] ?? [], parameters[`${name}[]`] ?? []].flat().filter((item) => item !== '');
  return readQuery(nodeQuery, { ...parameters, sort: items('sort'), node_id: items('node_id') });
}

function sortKeys(terms: readonly string[], context: z.RefinementCtx): NodeSort[] {
  const keys = new Map<NodeSortColumn, NodeSort>();
  for (const term of terms) {
    const descending = term.endsWith(descendingSuffix);
    const column = sortNames.get(descending ? term.slice(0, -descendingSuffix.length) : term);
    if (column === undefined) {
      const names = [...sortNames.keys()].join(', ');
      context.addIssue(`must be one of ${names}, each optionally followed by ${descendingSuffix}`);
      return z.NEVER;
    }
    // A repeated column has no effect.
    if (!keys.has(column)) keys.set(column, { column, descending });
  }
  return [...keys.values()];
}
