import { z } from 'zod';
import { routerErrorType } from './error-shapes.js';
import { routerQueueRequestId } from './identifiers.js';

/** The lifecycle that callers poll; closed at three values. */
export const routerQueueStatus = z
  .enum(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'])
  .meta({ id: 'RouterQueueStatus', description: 'Where the run stands; only moves forward.' });

/** What a cancellation ask found: the first value answers 202, the second 400. */
const routerQueueCancelStatus = z
  .enum(['CANCELLATION_REQUESTED', 'ALREADY_COMPLETED'])
  .meta({ id: 'RouterQueueCancelStatus', description: 'What the cancellation ask found.' });

const routerQueuePosition = z.int().min(0).meta({
  id: 'RouterQueuePosition',
  description: 'How many runs of the workspace are ahead of this one; 0 means the front.',
});

/** On every answer that carries a live handle, so that clients never compose queue URLs. */
export const routerQueueUrls = z
  .object({
    status_url: z.url().describe('Reads the state.'),
    response_url: z.url().describe('Collects the result.'),
    cancel_url: z.url().describe('Asks for cancellation.'),
  })
  .meta({ id: 'RouterQueueUrls', description: 'Absolute URLs of the rest of the run.' });

/** The 201 of a queued submit. */
export const routerQueueSubmitResponse = z
  .object({
    request_id: routerQueueRequestId,
    status: z.literal('IN_QUEUE'),
    queue_position: routerQueuePosition,
    ...routerQueueUrls.shape,
  })
  .meta({ id: 'RouterQueueSubmitResponse', description: 'The new run and its state at admission.' });

/** `queue_position` only while `IN_QUEUE`; `error_type` only on a run that did not succeed; never null. */
export const routerQueueStatusResponse = z
  .object({
    request_id: routerQueueRequestId,
    status: routerQueueStatus,
    queue_position: routerQueuePosition.optional(),
    error_type: routerErrorType.optional(),
    ...routerQueueUrls.shape,
  })
  .meta({ id: 'RouterQueueStatusResponse', description: 'The current state of one run.' });

/** The body of both cancel answers, 202 and 400. */
export const routerQueueCancelResponse = z
  .object({ request_id: routerQueueRequestId, status: routerQueueCancelStatus })
  .meta({ id: 'RouterQueueCancelResponse', description: 'What the cancellation ask found.' });

export type RouterQueueStatus = z.infer<typeof routerQueueStatus>;
export type RouterQueueUrls = z.infer<typeof routerQueueUrls>;
export type RouterQueueSubmitResponse = z.infer<typeof routerQueueSubmitResponse>;
export type RouterQueueStatusResponse = z.infer<typeof routerQueueStatusResponse>;
export type RouterQueueCancelResponse = z.infer<typeof routerQueueCancelResponse>;
