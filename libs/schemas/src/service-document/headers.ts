import { z } from 'zod';
import { inlineSchema, type JsonSchema } from './json-schema.js';
import { shapeReference } from './shapes.js';

/** What an answer may carry beside its body. */
interface Header {
  description: string;
  /** False for a header that comes with some answers of a status only. */
  always: boolean;
  schema: JsonSchema;
}

const cents = () => inlineSchema(z.int().min(0));

export const headers = {
  'X-Service-Request-Id': {
    description: 'The id of this call, as it is recorded; not the id of a run.',
    always: true,
    schema: inlineSchema(z.uuid()),
  },
  'X-Service-Error-Type': {
    description: 'The bucket of the failure; on a 422 the only place that names it.',
    always: true,
    schema: { $ref: shapeReference('RouterErrorType') },
  },
  ETag: {
    description: 'A strong tag of the document’s bytes.',
    always: true,
    schema: inlineSchema(z.string()),
  },
  'Cache-Control': {
    description: 'How long the document may be kept.',
    always: true,
    schema: inlineSchema(z.string()),
  },
  'Access-Control-Allow-Origin': {
    description: '`*`: pages of any origin may read the answer.',
    always: true,
    schema: inlineSchema(z.literal('*')),
  },
  'Idempotent-Replayed': {
    description: '`true` on an answer that repeats the record of an Idempotency-Key; absent on a fresh one.',
    always: false,
    schema: inlineSchema(z.literal('true')),
  },
  'Retry-After': {
    description:
      'Seconds to wait before a retry with the same Idempotency-Key; only when a running generation can be collected.',
    always: false,
    schema: inlineSchema(z.int().min(1)),
  },
  'X-Committed-Spend-Limit': {
    description:
      'Ceiling on the spend of calls in flight, in US dollar cents; when that limit refused the call.',
    always: false,
    schema: cents(),
  },
  'X-Committed-Spend-Current': {
    description:
      'Spend of the calls in flight, in US dollar cents, without the refused call; with the limit.',
    always: false,
    schema: cents(),
  },
  'X-Committed-Spend-Remaining': {
    description: 'What is left under the limit, in US dollar cents; with the limit.',
    always: false,
    schema: cents(),
  },
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof headers;
