import {
  routerCostEstimate,
  routerModelInput,
  routerModelOutput,
  routerQueueCancelResponse,
  routerQueueStatusResponse,
  routerQueueSubmitResponse,
  routerValidationErrorResponse,
} from '#schemas';
import { z } from 'zod';
import { once } from '../http/query.pipe.js';
import { answer, failure, json, modelNotFound, ofRouter } from '../http/api-route.js';
import type { HeaderName } from '../http/response-headers.js';

/** The query of a call that begins a run. */
export const serverQuery = z.object({
  model_provider: once().optional().meta({
    description:
      'Which of the model’s servers runs it, by the first segment of the server’s id; its own input is checked then, and no other serves. Left out, the first that is set up serves, and the next that takes the same input only when that one provably did not take the run.',
  }),
});

/** Headers of an answer that is the outcome of a run, and of one to a call that may have joined the run. */
const settled: HeaderName[] = ['X-Service-Cost-Cents', 'X-Service-Model-Provider'];
const joined: HeaderName[] = ['Idempotent-Replayed'];

/** Usually JSON; some models answer with bytes, under their own content type. */
const output = { ...json(routerModelOutput), '*/*': null };

const rejectedFields = (headers: HeaderName[] = []) =>
  failure(422, ['invalid_input'], 'The model, or its schema, does not accept these fields.', {
    shape: routerValidationErrorResponse,
    headers,
  });
/** Failures that are the outcome of a run, those of the router among them. */
const outcomeFailures = (headers: HeaderName[]) => [
  rejectedFields(headers),
  failure(502, ['provider_error'], 'The provider failed, or its reply could not be read as a result.', {
    headers,
  }),
  ...ofRouter
    .filter(({ status }) => status >= 500)
    .map((each) => ({ ...each, headers: [...each.headers, ...headers] })),
];
const runNotFound = failure(
  404,
  ['invalid_input'],
  'No such run of this workspace and this model. Unknown ids and other workspaces’ ids answer alike.',
);
const agedOut = failure(410, ['invalid_input'], 'The result has aged out.');

/** A request with an input, and what it can be refused with before anything is dispatched. */
const withInput = {
  headers: z.object({
    'Idempotency-Key': z
      .string()
      .regex(/^[!-~]{1,255}$/)
      .meta({
        description:
          'Names this run within the workspace for 24 hours: a retry with the same key and the same request joins or repeats the run instead of starting another.',
      }),
  }),
  body: routerModelInput,
};
const refusals = [
  failure(402, ['insufficient_credits'], 'The workspace lacks credits for this run.'),
  modelNotFound,
  failure(
    409,
    ['invalid_input'],
    'The Idempotency-Key was used for another request, or for a result that cannot be repeated.',
    { headers: joined },
  ),
  failure(
    429,
    ['concurrency_limit_exceeded', 'rate_limited'],
    'An allowance of the workspace is spent: runs in flight or waiting, committed spend, or runs per minute. `detail` says which.',
    { headers: ['X-Committed-Spend-Limit', 'X-Committed-Spend-Current', 'X-Committed-Spend-Remaining'] },
  ),
];

export const runModel = {
  ...withInput,
  query: serverQuery,
  name: 'RunModel',
  area: 'Synchronous runs',
  summary: 'Run a model and wait for the result',
  description:
    'The body is the model’s own input and is forwarded byte for byte; the answer is its own output. The connection is held until then. A retry with the same `Idempotency-Key` after a 504 or a lost connection collects the run that is under way instead of starting another, and says so by `Idempotent-Replayed`. A run that completed is billed whether or not the answer arrived.',
  answers: [
    answer(200, 'The result, as the model’s provider gave it.', output, [...joined, ...settled]),
    failure(
      400,
      ['invalid_input', 'content_policy_violation'],
      'The request is malformed, or the provider refused its content.',
      { headers: [...joined, ...settled] },
    ),
    ...refusals,
    ...outcomeFailures([...joined, ...settled]),
    failure(
      504,
      ['deadline_exceeded', 'provider_timeout'],
      'The router stopped holding the connection while the run goes on, or the provider did not answer in time.',
      { headers: ['Retry-After', ...joined, ...settled] },
    ),
  ],
} as const;

export const estimateCost = {
  query: serverQuery,
  body: routerModelInput,
  name: 'EstimateCost',
  area: 'Queued runs',
  summary: 'Ask what a run would cost',
  description:
    'The body is the input of the run. It is checked as for a run; nothing is sent to the provider and nothing is spent.',
  answers: [
    answer(200, 'What it would cost this workspace now.', json(routerCostEstimate)),
    failure(400, ['invalid_input'], 'The request is malformed.'),
    modelNotFound,
    rejectedFields(),
  ],
} as const;

export const getRunStatus = {
  name: 'GetRunStatus',
  area: 'Queued runs',
  summary: 'Read the state of a run',
  description:
    'Never carries the result, so a long run is polled cheaply. `error_type` is there only on a `COMPLETED` run that did not succeed.',
  answers: [answer(200, 'The state.', json(routerQueueStatusResponse), settled), runNotFound, agedOut],
} as const;

export const streamRunStatus = {
  name: 'StreamRunStatus',
  area: 'Queued runs',
  summary: 'Follow the state of a run',
  description:
    'Server-sent events: the status body as `data` at once and after each change, the last one `COMPLETED`; an event `progress` with `{"progress": 0.4}`, a share of 1, where the provider says how far it is; a comment every 15 seconds. A stream that ends without `COMPLETED` ended at the bound of synchronous calls or because the gateway stops: open it again.',
  answers: [
    answer(200, 'The events.', { 'text/event-stream': null }, ['Cache-Control']),
    runNotFound,
    agedOut,
  ],
} as const;

export const collectRun = {
  name: 'CollectRun',
  area: 'Queued runs',
  summary: 'Collect the result of a run',
  description:
    'Any number of times, until the result ages out. A run that failed answers with the status and the body that the synchronous route would have given.',
  answers: [
    answer(200, 'The result, as the synchronous route would have given it.', output, settled),
    answer(202, 'Not finished yet.', json(routerQueueStatusResponse)),
    failure(400, ['content_policy_violation', 'invalid_input'], 'The provider refused the content.', {
      headers: settled,
    }),
    runNotFound,
    failure(409, ['client_disconnected'], 'The run was cancelled.', { headers: settled }),
    agedOut,
    ...outcomeFailures(settled),
    failure(504, ['provider_timeout'], 'The provider did not answer in time.', { headers: settled }),
  ],
} as const;

export const cancelRun = {
  name: 'CancelRun',
  area: 'Queued runs',
  summary: 'Request the cancellation of a run',
  description:
    'A waiting run ends at once and is not charged. For a run that was dispatched the request is passed on to the provider; it may still complete and be charged.',
  answers: [
    answer(202, 'The request is recorded.', json(routerQueueCancelResponse)),
    failure(400, ['invalid_input'], 'The run has completed already.', { shape: routerQueueCancelResponse }),
    runNotFound,
    agedOut,
  ],
} as const;

/** The parameters of the routes of a run, out of the call that submitted it. */
const submittedRun = {
  provider: '$request.path.provider',
  model: '$request.path.model',
  request_id: '$response.body#/request_id',
};

const address = once().optional();

/** The query of a queued submit, which may also ask to be called back. */
export const submitQuery = serverQuery.extend({
  webhook_url: address.meta({
    description:
      'A public https URL that is called once when the run is completed, however it ends: a POST of `RouterRunCompleted`, signed as Standard Webhooks says, tried eight times within 24 hours.',
  }),
  fal_webhook: address.meta({
    description:
      'The same for clients of fal: the body is what fal sends, with the output in it. Instead of `webhook_url`.',
  }),
});

export const submitRun = {
  ...withInput,
  query: submitQuery,
  name: 'SubmitRun',
  area: 'Queued runs',
  summary: 'Submit a run and get its handle',
  description:
    'The body is the same as of a synchronous run and is checked the same way. The run waits when the workspace’s allowances are in use; only a full backlog is refused. The answer names the three URLs of the run: clients never compose them.',
  answers: [
    answer(
      201,
      'The run is admitted.',
      json(routerQueueSubmitResponse),
      joined,
      Object.fromEntries(
        [getRunStatus, streamRunStatus, collectRun, cancelRun].map(({ name }) => [name, submittedRun]),
      ),
    ),
    failure(400, ['invalid_input'], 'The request is malformed, or its webhook may not be called.'),
    ...refusals,
    rejectedFields(),
  ],
} as const;
