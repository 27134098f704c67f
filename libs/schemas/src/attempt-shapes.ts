import { z } from 'zod';
import { count, moment, text } from './fields.js';
import { routerProviderSegment, routerQueueRequestId } from './identifiers.js';
import { routerWebhookDeliveryDetail } from './webhook.js';
import { operatorPause, operatorRun } from './operator-shapes.js';

const operatorAttempt = z
  .object({
    at: moment('When the call ended. For several equal calls in a row, the first of them.'),
    last_at: moment('When the last of several equal calls ended.').optional(),
    count: z.int().min(1).describe('The number of equal calls in a row.'),
    provider: routerProviderSegment,
    phase: z
      .enum(['input', 'upload', 'submit', 'poll', 'fetch', 'cancel', 'asset'])
      .describe(
        'The call: an upload of an input file, the submission, and so on. `input`: reading the input from our store, before any call. `asset`: a file of the output.',
      ),
    status: z.int().optional().describe('The HTTP status of the reply. Absent if there was none.'),
    class: text(
      'The class of the failure, such as `provider_account`. For an asset, why it was not copied; for a cancellation, how the provider answered.',
    ),
    retry: z
      .enum(['never', 'same_call', 'new_submit', 'next_server'])
      .optional()
      .describe(
        'What followed. `never`: the run ended, or the call was not repeated. `same_call`: it may be repeated. `new_submit`: the run is submitted again. `next_server`: the run moved to its next provider.',
      ),
    reading: text('What it means, in one sentence.'),
    provider_request_id: text('The provider’s own id of the call, for its support.').optional(),
    reply: text(
      'The first 2 KiB of the reply: of equal calls, of the last. Without credentials, URLs and what the input contributed beyond 200 characters.',
    ).optional(),
  })
  .meta({ id: 'OperatorAttempt', description: 'A provider call that did not simply succeed.' });

const attempts = z
  .array(operatorAttempt)
  .describe(
    'The provider calls that did not simply succeed, oldest first: at most the first ten and the last ten.',
  );

/** A run with everything that operators may know about it. Members that do not apply are absent. */
export const operatorRunDetail = operatorRun
  .extend({
    call_id: z.uuid().optional().describe('The `X-Service-Request-Id` of the call that admitted the run.'),
    error_detail: text('The text that the caller got.').optional(),
    handle: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('What the provider returned to identify the run. Absent if nothing was accepted.'),
    attempts: count('The number of submission attempts.').optional(),
    crashes: count('How often a worker died with the run since its last success.').optional(),
    due_at: moment('When the run is due next, for a live run that does not wait for a free slot.').optional(),
    deadline_at: moment('When the time budget ends. Absent before the first submission.').optional(),
    pauses: z.array(operatorPause).describe('The current pauses of the provider, for a live run.'),
    trace_id: text('The id of the trace, if the run is traced.').optional(),
    pinned_at: moment('Since when the run is a sample of its model. Absent if it isn’t.').optional(),
    webhook: routerWebhookDeliveryDetail
      .omit({ payload: true })
      .meta({ id: 'OperatorRunWebhook', description: 'The webhook of a run, with its attempts.' })
      .optional(),
    provider_attempts: attempts,
    provider_attempts_left_out: count('The number of calls between the first ten attempts and the last ten.'),
  })
  .meta({
    id: 'OperatorRunDetail',
    description:
      'A run of any workspace, with its provider calls that failed and the attempts of its webhook.',
  });

export const operatorAttemptExamples = z
  .object({
    data: z
      .array(z.object({ request_id: routerQueueRequestId, attempt: operatorAttempt }))
      .describe('The last attempt of each of at most five runs, newest first.'),
  })
  .meta({
    id: 'OperatorAttemptExamples',
    description: 'Recent calls of a provider that did not simply succeed, each of another run.',
  });

export type OperatorAttempt = z.infer<typeof operatorAttempt>;
export type OperatorRunDetail = z.infer<typeof operatorRunDetail>;
export type OperatorAttemptExamples = z.infer<typeof operatorAttemptExamples>;
