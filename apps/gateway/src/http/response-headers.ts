import { routerErrorType, routerProviderSegment } from '#schemas';
import { z } from 'zod';

const cents = (description: string) => z.int().min(0).optional().meta({ description });

/** What answers carry beside their body. An optional header comes with some answers of a status only. */
export const responseHeaders = {
  'X-Service-Request-Id': z.uuid().meta({
    description: 'The id of this call, as it is recorded; not the id of a run.',
  }),
  'X-Service-Error-Type': routerErrorType,
  ETag: z.string().meta({ description: 'A strong tag of the bytes.' }),
  'Cache-Control': z.string().meta({ description: 'How long the document may be kept.' }),
  'Content-Range': z.string().meta({
    description: 'Which bytes of how many these are; `bytes */<how many>` when there are none of the range.',
  }),
  'Access-Control-Allow-Origin': z.literal('*').meta({
    description: '`*`: pages of any origin may read the answer.',
  }),
  'Idempotent-Replayed': z.literal('true').optional().meta({
    description:
      '`true` on every answer to a call whose run an earlier call with the same Idempotency-Key began: joined, collected or repeated. Absent on all others.',
  }),
  'X-Service-Cost-Cents': z.number().min(0).optional().meta({
    description:
      'What was billed for the run, in US dollar cents, as a decimal number; only when the run has completed.',
  }),
  'X-Service-Model-Provider': routerProviderSegment.optional().meta({
    description: 'Who served the run, of a model with several servers; only when the run has completed.',
  }),
  'Retry-After': z.int().min(1).optional().meta({
    description:
      'Seconds to wait before a retry with the same Idempotency-Key; only when a running generation can be collected.',
  }),
  'X-Committed-Spend-Limit': cents(
    'Ceiling on the spend of calls in flight, in US dollar cents; when that limit refused the call.',
  ),
  'X-Committed-Spend-Current': cents(
    'Spend of the calls in flight, in US dollar cents, without the refused call; with the limit.',
  ),
  'X-Committed-Spend-Remaining': cents('What is left under the limit, in US dollar cents; with the limit.'),
} as const satisfies Record<string, z.ZodType>;

export type HeaderName = keyof typeof responseHeaders;
