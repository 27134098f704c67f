import { routerErrorType, routerProviderSegment, routerQueueRequestId } from '#schemas';
import { z } from 'zod';

const cents = (description: string) => z.int().min(0).optional().meta({ description });

/** The headers of answers. An optional header is present on only some of the answers with a status. */
export const responseHeaders = {
  'X-Service-Request-Id': z.uuid().meta({
    description: 'The id of this call, as it is logged. It is not the id of a run.',
  }),
  'X-Service-Run-Id': routerQueueRequestId.optional().meta({
    description:
      'The id of the run that the call belongs to: its `request_id`. Absent if the call belongs to no run.',
  }),
  'X-Service-Unknown-Fields': z.string().optional().meta({
    description:
      'Up to ten top-level fields of the input that the model’s schema does not name and that resemble one it does, each with that one: `hieght (height?), widht (width?)`. The input is forwarded all the same.',
  }),
  'X-Service-Error-Type': routerErrorType,
  Location: z.string().meta({ description: 'A URL relative to that of the request.' }),
  ETag: z.string().meta({ description: 'A strong ETag of the bytes.' }),
  'Cache-Control': z.string().meta({ description: 'How long the document may be cached.' }),
  'Content-Range': z.string().meta({
    description:
      'The range of these bytes and the total size; `bytes */<size>` if the range is outside the asset.',
  }),
  'Access-Control-Allow-Origin': z.literal('*').meta({
    description: '`*`: pages of any origin may read the response.',
  }),
  'Idempotent-Replayed': z.literal('true').optional().meta({
    description:
      '`true` if an earlier call with the same Idempotency-Key began the run, and this call joined, collected or repeated it. Otherwise absent.',
  }),
  'X-Service-Cost-Cents': z.number().min(0).optional().meta({
    description:
      'The amount billed for the run, in US dollar cents, as a decimal number. Present only when the run has completed.',
  }),
  'X-Service-Billed-To': z.literal('workspace').optional().meta({
    description:
      '`workspace` if the run uses the workspace’s own key of the provider, which then bills the workspace. Otherwise absent.',
  }),
  'X-Service-Model-Provider': routerProviderSegment.optional().meta({
    description:
      'The server that ran it, for a model with several servers. Present only when the run has completed.',
  }),
  'Retry-After': z.int().min(1).optional().meta({
    description:
      'Seconds to wait before a retry with the same Idempotency-Key. Present only while the run is in progress at the provider.',
  }),
  'X-Committed-Spend-Limit': cents(
    'Limit on the committed spend of calls in flight, in US dollar cents. Present when this limit rejected the call.',
  ),
  'X-Committed-Spend-Current': cents(
    'Committed spend of the calls in flight, in US dollar cents, without the rejected call.',
  ),
  'X-Committed-Spend-Remaining': cents('What is left under the limit, in US dollar cents.'),
} as const satisfies Record<string, z.ZodType>;

export type HeaderName = keyof typeof responseHeaders;
