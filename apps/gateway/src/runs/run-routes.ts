import {
  maxTags,
  routerCostEstimate,
  routerModelInput,
  routerModelOutput,
  routerQueueCancelResponse,
  routerQueueStatusResponse,
  routerQueueSubmitResponse,
  routerTagList,
  routerUser,
  routerValidationErrorResponse,
  tagSyntax,
} from '#schemas';
import { z } from 'zod';
import { once } from '../http/query.pipe.js';
import { answer, failure, json, modelNotFound, ofRouter } from '../http/api-route.js';
import type { HeaderName } from '../http/response-headers.js';

/** The query of a call that begins a run. */
export const serverQuery = z.object({
  model_provider: once().optional().meta({
    description:
      'The server that runs the model, given by the first segment of its id. The input is then checked against that server’s schema, and no other server is tried. By default the first server that is set up runs the model; the next one that accepts the same input is tried only if the previous one provably did not take the run.',
  }),
  alt: once().optional().meta({
    description:
      '`sse` requests the answer as server-sent events while it is written, from models whose input has no member for it, such as Gemini.',
  }),
});

/**
 * Headers of an answer that belongs to a run, of one with the outcome of a run, and of one to a call that may have joined
 * the run.
 */
const ofRun: HeaderName[] = ['X-Service-Run-Id', 'X-Service-Billed-To'];
const settled: HeaderName[] = [...ofRun, 'X-Service-Cost-Cents', 'X-Service-Model-Provider'];
const joined: HeaderName[] = ['Idempotent-Replayed'];
/** The header of answers to a call with an input. */
const ofInput: HeaderName[] = ['X-Service-Unknown-Fields'];

/** Usually JSON; some models answer with bytes, under their own content type. */
const output = { ...json(routerModelOutput), '*/*': null };

const rejectedFields = (headers: HeaderName[] = []) =>
  failure(422, ['invalid_input'], 'The model or its schema does not accept these fields.', {
    shape: routerValidationErrorResponse,
    headers,
  });
/** Failures that are the outcome of a run, including those of the router. */
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
  'The workspace has no such run of this model. Ids of other workspaces are treated as unknown.',
);
const agedOut = failure(410, ['invalid_input'], 'The result has aged out.', { headers: ofRun });

/** A request with an input, and the failures with which it can be rejected before anything is dispatched. */
const withInput = {
  headers: z.object({
    'Idempotency-Key': z
      .string()
      .regex(/^[!-~]{1,255}$/)
      .meta({
        description:
          'Names this run within the workspace for 24 hours. A retry with the same key and the same request joins the run, or repeats its result, instead of starting another.',
      }),
    'X-Service-Tags': routerTagList.meta({
      description: `Tags by which the run is counted and found: at most ${maxTags}, with ${tagSyntax}. They are stored with the run, never sent to the provider, and not compared when an Idempotency-Key is used again.`,
      example: 'project=alpha,team=web',
    }),
    'X-Service-User': routerUser.meta({
      description:
        'The end user of the caller for whom the run is made, as the caller names it. It is treated like a tag.',
      example: 'user-7',
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
    { headers: [...ofRun, ...joined] },
  ),
  failure(
    429,
    ['concurrency_limit_exceeded', 'rate_limited'],
    'The workspace has reached a limit: runs in flight or waiting, committed spend, or runs per minute. `detail` says which.',
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
    'The body is the model’s own input and is forwarded byte for byte; the response is the model’s own output. The connection stays open until the result is ready. After a 504 or a lost connection, a retry with the same `Idempotency-Key` collects the run in progress instead of starting another, and its response has the header `Idempotent-Replayed`. A completed run is billed whether or not the response arrived.',
  answers: [
    answer(200, 'The result, as the provider returned it.', output, [...ofInput, ...joined, ...settled]),
    failure(
      400,
      ['invalid_input', 'content_policy_violation'],
      'The request is malformed, or the provider rejected its content.',
      { headers: [...ofInput, ...joined, ...settled] },
    ),
    ...refusals,
    ...outcomeFailures([...ofInput, ...joined, ...settled]),
    failure(
      504,
      ['deadline_exceeded', 'provider_timeout'],
      'The router stopped holding the connection and the run continues, or the provider did not answer in time.',
      { headers: ['Retry-After', ...ofInput, ...joined, ...settled] },
    ),
  ],
} as const;

export const estimateCost = {
  query: serverQuery,
  body: routerModelInput,
  name: 'EstimateCost',
  area: 'Queued runs',
  summary: 'Estimate the cost of a run',
  description:
    'The body is the input of the run and is checked the same way. Nothing is sent to the provider, and nothing is charged.',
  answers: [
    answer(200, 'The cost for this workspace at current prices.', json(routerCostEstimate), ofInput),
    failure(400, ['invalid_input'], 'The request is malformed.'),
    modelNotFound,
    rejectedFields(ofInput),
  ],
} as const;

export const getRunStatus = {
  name: 'GetRunStatus',
  area: 'Queued runs',
  summary: 'Get the state of a run',
  description:
    'Never includes the result, so polling is cheap. `error_type` is present only on a `COMPLETED` run that did not succeed.',
  answers: [answer(200, 'The state.', json(routerQueueStatusResponse), settled), runNotFound, agedOut],
} as const;

export const streamRunStatus = {
  name: 'StreamRunStatus',
  area: 'Queued runs',
  summary: 'Follow the state of a run',
  description:
    'Server-sent events. The status body is sent as `data` immediately and after each change; the last one is `COMPLETED`. If the provider reports its progress, an event `progress` has it as a fraction of 1, such as `{"progress": 0.4}`. A comment is sent every 15 seconds. A stream that ends without `COMPLETED` has reached the time limit of synchronous calls, or its gateway is stopping: open it again.',
  answers: [
    answer(200, 'The events.', { 'text/event-stream': null }, [...ofRun, 'Cache-Control']),
    runNotFound,
    agedOut,
    failure(429, ['concurrency_limit_exceeded'], 'The workspace has too many open connections.'),
  ],
} as const;

export const collectRun = {
  name: 'CollectRun',
  area: 'Queued runs',
  summary: 'Collect the result of a run',
  description:
    'The result can be collected any number of times until it ages out. A failed run returns the status and body that the synchronous route would have returned.',
  answers: [
    answer(200, 'The result, as the synchronous route would have returned it.', output, settled),
    answer(202, 'The run has not finished yet.', json(routerQueueStatusResponse), ofRun),
    failure(400, ['content_policy_violation', 'invalid_input'], 'The provider rejected the content.', {
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
    'A waiting run ends immediately and is not charged. For a dispatched run, the request is passed on to the provider; the run may still complete and be charged.',
  answers: [
    answer(202, 'The request has been recorded.', json(routerQueueCancelResponse), ofRun),
    failure(400, ['invalid_input'], 'The run has already completed.', {
      shape: routerQueueCancelResponse,
      headers: ofRun,
    }),
    runNotFound,
    agedOut,
  ],
} as const;

/** The parameters of the routes of a run, taken from the call that submitted it. */
const submittedRun = {
  provider: '$request.path.provider',
  model: '$request.path.model',
  request_id: '$response.body#/request_id',
};

const address = once().optional();

/** The query of a queued submission, which may also name a webhook. */
export const submitQuery = serverQuery.extend({
  webhook_url: address.meta({
    description:
      'A public https URL that is called when the run is completed, whatever its outcome, with a POST of `RouterRunCompleted`. The call is signed as defined by Standard Webhooks, and tried up to eight times within 24 hours.',
  }),
  fal_webhook: address.meta({
    description:
      'The same for clients of fal, instead of `webhook_url`: the body has fal’s format and includes the output.',
  }),
});

export const submitRun = {
  ...withInput,
  query: submitQuery,
  name: 'SubmitRun',
  area: 'Queued runs',
  summary: 'Submit a run and get its id and URLs',
  description:
    'The body is the same as for a synchronous run and is checked the same way. The run waits while the workspace is at its limits; it is rejected only if the backlog is full. The response contains the three URLs of the run, so that clients never compose them.',
  answers: [
    answer(
      201,
      'The run is admitted.',
      json(routerQueueSubmitResponse),
      [...ofInput, ...ofRun, ...joined],
      Object.fromEntries(
        [getRunStatus, streamRunStatus, collectRun, cancelRun].map(({ name }) => [name, submittedRun]),
      ),
    ),
    failure(400, ['invalid_input'], 'The request is malformed, or its webhook URL is not allowed.'),
    ...refusals,
    rejectedFields(ofInput),
  ],
} as const;
