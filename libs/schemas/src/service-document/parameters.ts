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
