import { z } from 'zod';

/** The query of a list of nodes, as the service document describes it. */
export const nodeQuery = z.object({
  page: z.int().default(1).meta({ description: 'The number of the page; below 1 counts as 1.' }),
  limit: z.int().default(10).meta({
    description: 'The page size. Above 100, 100 is served; 0 and less select the default.',
  }),
  supported_os: z.string().meta({
    description:
      'Only nodes that run on this system: those that list it, an ancestor of it (`POSIX :: Linux` covers `POSIX :: Linux :: Ubuntu`), `OS Independent`, or nothing.',
  }),
  supported_accelerator: z.string().meta({
    description: 'Only nodes that list this accelerator, or none.',
  }),
  include_banned: z.boolean().default(true).meta({
    description: '`false` leaves out banned nodes and the nodes of banned publishers.',
  }),
  timestamp: z.iso.datetime({ offset: true }).meta({
    description:
      'Only nodes that were created or updated after this time, in ISO 8601. A new version updates its node.',
  }),
  latest: z.boolean().default(false).meta({
    description: '`true` reads the database; otherwise the page may be up to 60 seconds old.',
  }),
  sort: z.array(z.string()).meta({
    description:
      'Columns to sort by, the first one first; `;desc` behind one turns its direction. `id`, `name`, `author`, `category`, `created_at` (or `create_time`), `updated_at` (`last_updated`), `downloads` (`total_install`), `github_stars` (`total_star`), `rating`, `search_ranking`, `status`. A missing value counts as the least.',
  }),
  node_id: z.array(z.string()).meta({ description: 'Only the nodes of these ids.' }),
  app_version: z.string().meta({
    description: 'Only nodes whose range of versions of the host application contains it, or that have none.',
  }),
  form_factor: z.string().meta({
    description:
      'The platform of the request. One that ends in `-win`, `-windows`, `-mac` or `-linux` narrows like `supported_os`.',
  }),
});
