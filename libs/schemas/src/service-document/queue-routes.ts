import { byStatus, failure, identified, json, providerFailures, refusedInput, answer } from './answers.js';
import type { Route } from './route.js';
import { output } from './run-routes.js';

const requests = '/v2/models/{provider}/{model}/requests' as const;
const facts = { area: 'Queued runs', credentials: 'key_or_token', input: null } as const;
const oneRun = ['provider', 'model', 'requestId'] as const;

const runNotFound = failure(
  404,
  ['invalid_input'],
  'No such run of this workspace and this model. Unknown ids and other workspaces’ ids answer alike.',
);
const agedOut = failure(410, ['invalid_input'], 'The result has aged out.');

const submit: Route = {
  ...facts,
  method: 'POST',
  path: requests,
  name: 'v2SubmitRun',
  summary: 'Submit a run and get its handle',
  description:
    'The body is the same as of a synchronous run and is checked the same way. The run waits when the workspace’s allowances are in use; only a full backlog is refused. The answer names the three URLs of the rest of its life: clients never compose them.',
  parameters: ['provider', 'model', 'idempotencyKey'],
  input: 'RouterModelInput',
  answers: byStatus(
    answer(201, 'The run is admitted.', json('RouterQueueSubmitResponse'), {
      headers: ['Idempotent-Replayed'],
    }),
    failure(400, ['invalid_input'], 'The request is malformed.'),
    ...refusedInput,
    ...identified,
  ),
};

const status: Route = {
  ...facts,
  method: 'GET',
  path: `${requests}/{request_id}/status`,
  name: 'v2GetRunStatus',
  summary: 'Read where a run stands',
  description:
    'Never carries the result, so a long run is polled cheaply. `error_type` is there only on a `COMPLETED` run that did not succeed.',
  parameters: oneRun,
  answers: byStatus(
    answer(200, 'The state.', json('RouterQueueStatusResponse')),
    runNotFound,
    agedOut,
    ...identified,
  ),
};

const collect: Route = {
  ...facts,
  method: 'GET',
  path: `${requests}/{request_id}`,
  name: 'v2CollectRun',
  summary: 'Collect the result of a run',
  description:
    'Any number of times, until the result ages out. A run that failed answers with the status and the body that the synchronous route would have given.',
  parameters: oneRun,
  answers: byStatus(
    answer(200, 'The result, as the synchronous route would have given it.', output),
    answer(202, 'Not finished yet.', json('RouterQueueStatusResponse')),
    failure(400, ['content_policy_violation', 'invalid_input'], 'The provider refused the content.'),
    runNotFound,
    failure(409, ['client_disconnected'], 'The run was cancelled.'),
    agedOut,
    failure(422, ['invalid_input'], 'The model did not accept these fields.', {
      shape: 'RouterValidationErrorResponse',
    }),
    ...providerFailures,
    failure(504, ['provider_timeout'], 'The provider did not answer in time.'),
    ...identified,
  ),
};

const cancel: Route = {
  ...facts,
  method: 'PUT',
  path: `${requests}/{request_id}/cancel`,
  name: 'v2CancelRun',
  summary: 'Ask for the cancellation of a run',
  description:
    'A waiting run ends at once and is not charged. For a run that was dispatched the ask is passed on; it may still complete and be charged.',
  parameters: oneRun,
  answers: byStatus(
    answer(202, 'The ask is recorded.', json('RouterQueueCancelResponse')),
    failure(400, ['invalid_input'], 'The run has completed already.', { shape: 'RouterQueueCancelResponse' }),
    runNotFound,
    agedOut,
    ...identified,
  ),
};

export const queueRoutes: Route[] = [submit, status, collect, cancel];
