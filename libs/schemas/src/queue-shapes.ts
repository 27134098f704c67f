import { z } from 'zod';
import { routerErrorType } from './error-shapes.js';
import { routerQueueRequestId } from './identifiers.js';

/** The status of a run that callers poll: a closed set of three values. */
export const routerQueueStatus = z
  .enum(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'])
  .meta({ id: 'RouterQueueStatus', description: 'The status of the run. It only moves forward.' });

/** The result of a cancellation: the first value is returned with 202, the second with 400. */
const routerQueueCancelStatus = z
  .enum(['CANCELLATION_REQUESTED', 'ALREADY_COMPLETED'])
  .meta({ id: 'RouterQueueCancelStatus', description: 'The result of the cancellation.' });

const routerQueuePosition = z.int().min(0).meta({
  id: 'RouterQueuePosition',
  description: 'The number of runs of the workspace ahead of this one. 0 means next in line.',
});

/** Part of every response about a kept run, so that clients never build URLs themselves. */
export const routerQueueUrls = z
  .object({
    status_url: z.url().describe('GET returns the status.'),
    response_url: z.url().describe('GET returns the result.'),
    cancel_url: z.url().describe('PUT cancels the run.'),
  })
  .meta({ id: 'RouterQueueUrls', description: 'Absolute URLs for the next calls about the run.' });

/** The 201 response of a queued submission. */
export const routerQueueSubmitResponse = z
  .object({
    request_id: routerQueueRequestId,
    status: z.literal('IN_QUEUE'),
    queue_position: routerQueuePosition,
    ...routerQueueUrls.shape,
  })
  .meta({ id: 'RouterQueueSubmitResponse', description: 'The new run and its status at admission.' });

/**
 * `queue_position` is present only while `IN_QUEUE`, `error_type` only if the run did not succeed. Neither is null.
 */
export const routerQueueStatusResponse = z
  .object({
    request_id: routerQueueRequestId,
    status: routerQueueStatus,
    queue_position: routerQueuePosition.optional(),
    error_type: routerErrorType.optional(),
    ...routerQueueUrls.shape,
  })
  .meta({ id: 'RouterQueueStatusResponse', description: 'The current status of a run.' });

/** The body of both cancel responses, 202 and 400. */
export const routerQueueCancelResponse = z
  .object({ request_id: routerQueueRequestId, status: routerQueueCancelStatus })
  .meta({ id: 'RouterQueueCancelResponse', description: 'The result of the cancellation.' });
export type RouterQueueStatus = z.infer<typeof routerQueueStatus>;
export type RouterQueueUrls = z.infer<typeof routerQueueUrls>;
export type RouterQueueSubmitResponse = z.infer<typeof routerQueueSubmitResponse>;
export type RouterQueueStatusResponse = z.infer<typeof routerQueueStatusResponse>;
export type RouterQueueCancelResponse = z.infer<typeof routerQueueCancelResponse>;
