import { z } from 'zod';
import { inlineSchema, type JsonSchema } from './json-schema.js';
import { shapeReference } from './shapes.js';

/** What a request may carry beside its body. */
interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description: string;
  schema: JsonSchema;
}

export const parameters = {
  provider: {
    name: 'provider',
    in: 'path',
    description: 'The partner that runs the model.',
    schema: { $ref: shapeReference('RouterProviderSegment') },
  },
  model: {
    name: 'model',
    in: 'path',
    description: 'The model within its provider.',
    schema: { $ref: shapeReference('RouterModelSegment') },
  },
  requestId: {
    name: 'request_id',
    in: 'path',
    description: 'The run, as its submit named it.',
    schema: { $ref: shapeReference('RouterQueueRequestId') },
  },
  fileName: {
    name: 'name',
    in: 'path',
    description: 'Which file.',
    schema: inlineSchema(z.string()),
  },
  assetKey: {
    name: 'key',
    in: 'path',
    description: 'Which asset; slashes are part of it.',
    schema: inlineSchema(z.string()),
  },
  expires: {
    name: 'expires',
    in: 'query',
    description: 'When the link expires, in seconds since 1970.',
    schema: inlineSchema(z.int()),
  },
  signature: {
    name: 'signature',
    in: 'query',
    description: 'What makes the link ours.',
    schema: inlineSchema(z.string()),
  },
  cursor: {
    name: 'cursor',
    in: 'query',
    description: '`next_cursor` of the page before; left out for the first page. It expires after 24 hours.',
    schema: { $ref: shapeReference('RouterPageCursor') },
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'The page size. Above 100, 100 is served; 0 and less select the default.',
    schema: inlineSchema(z.int().default(20)),
  },
  page: {
    name: 'page',
    in: 'query',
    description: 'The number of the page; below 1 counts as 1.',
    schema: inlineSchema(z.int().default(1)),
  },
  nodeLimit: {
    name: 'limit',
    in: 'query',
    description: 'The page size. Above 100, 100 is served; 0 and less select the default.',
    schema: inlineSchema(z.int().default(10)),
  },
  supportedOs: {
    name: 'supported_os',
    in: 'query',
    description:
      'Only nodes that run on this system: those that list it, an ancestor of it (`POSIX :: Linux` covers `POSIX :: Linux :: Ubuntu`), `OS Independent`, or nothing.',
    schema: inlineSchema(z.string()),
  },
  supportedAccelerator: {
    name: 'supported_accelerator',
    in: 'query',
    description: 'Only nodes that list this accelerator, or none.',
    schema: inlineSchema(z.string()),
  },
  includeBanned: {
    name: 'include_banned',
    in: 'query',
    description: '`false` leaves out banned nodes and the nodes of banned publishers.',
    schema: inlineSchema(z.boolean().default(true)),
  },
  timestamp: {
    name: 'timestamp',
    in: 'query',
    description:
      'Only nodes that were created or updated after this time, in ISO 8601. A new version updates its node.',
    schema: inlineSchema(z.iso.datetime({ offset: true })),
  },
  latest: {
    name: 'latest',
    in: 'query',
    description: '`true` reads the database; otherwise the page may be up to 60 seconds old.',
    schema: inlineSchema(z.boolean().default(false)),
  },
  sort: {
    name: 'sort',
    in: 'query',
    description:
      'Columns to sort by, the first one first; `;desc` behind one turns its direction. `id`, `name`, `author`, `category`, `created_at` (or `create_time`), `updated_at` (`last_updated`), `downloads` (`total_install`), `github_stars` (`total_star`), `rating`, `search_ranking`, `status`. A missing value counts as the least.',
    schema: inlineSchema(z.array(z.string())),
  },
  nodeId: {
    name: 'node_id',
    in: 'query',
    description: 'Only the nodes of these ids.',
    schema: inlineSchema(z.array(z.string())),
  },
  appVersion: {
    name: 'app_version',
    in: 'query',
    description: 'Only nodes whose range of versions of the host application contains it, or that have none.',
    schema: inlineSchema(z.string()),
  },
  formFactor: {
    name: 'form_factor',
    in: 'query',
    description:
      'The platform that asks. One that ends in `-win`, `-windows`, `-mac` or `-linux` narrows like `supported_os`.',
    schema: inlineSchema(z.string()),
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Names this run within the workspace for 24 hours: a retry with the same key and the same request joins or repeats the run instead of starting another.',
    schema: inlineSchema(z.string().regex(/^[!-~]{1,255}$/)),
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'An ETag of an earlier answer, compared weakly; `*` matches any document.',
    schema: inlineSchema(z.string()),
  },
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof parameters;
