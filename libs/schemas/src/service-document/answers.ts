import type { Bucket } from '#errors';
import type { HeaderName } from './headers.js';
import type { Answer } from './route.js';
import type { ShapeName } from './shapes.js';

interface Extra {
  headers?: readonly HeaderName[];
}

/** Any answer that names no bucket. */
export const answer = (
  status: number,
  description: string,
  content: Answer['content'],
  { headers = [] }: Extra = {},
): Answer => ({ status, description, content, headers: ['X-Service-Request-Id', ...headers], buckets: [] });

export const json = (shape: ShapeName): Answer['content'] => ({ 'application/json': shape });

/** A failure of the router: which buckets the status can name, and when. */
export const failure = (
  status: number,
  buckets: readonly Bucket[],
  description: string,
  { headers = [], shape = 'RouterErrorResponse' }: Extra & { shape?: ShapeName } = {},
): Answer => ({
  status,
  description,
  content: json(shape),
  headers: ['X-Service-Request-Id', 'X-Service-Error-Type', ...headers],
  buckets,
});

const internalError = failure(500, ['internal_error'], 'The router itself failed.');

/** What every route answers that a caller has to identify for. */
export const identified = [
  failure(401, ['unauthorized'], 'The request carries no usable credential.'),
  failure(
    403,
    ['forbidden', 'not_enabled'],
    'The credential is not entitled to this, or the router is not switched on for its workspace.',
  ),
  internalError,
  failure(503, ['service_unavailable'], 'Something the router depends on is away; retry with backoff.'),
] as const;

export const modelNotFound = failure(
  404,
  ['model_not_found'],
  'No model of this id is visible to the caller; `detail` suggests up to three.',
);

/** What a request with an input can be refused with before anything is dispatched. */
export const refusedInput = [
  failure(402, ['insufficient_credits'], 'The workspace lacks credits for this run.'),
  modelNotFound,
  failure(
    409,
    ['invalid_input'],
    'The Idempotency-Key was used for another request, or for a result that cannot be repeated.',
  ),
  failure(413, ['invalid_input'], 'The body is too large.'),
  failure(415, ['invalid_input'], 'The body is not sent as `application/json`.'),
  failure(422, ['invalid_input'], 'The model, or its schema, does not accept these fields.', {
    shape: 'RouterValidationErrorResponse',
  }),
  failure(
    429,
    ['concurrency_limit_exceeded', 'rate_limited'],
    'An allowance of the workspace is spent: runs in flight or waiting, committed spend, or runs per minute. `detail` says which.',
    { headers: ['X-Committed-Spend-Limit', 'X-Committed-Spend-Current', 'X-Committed-Spend-Remaining'] },
  ),
] as const;

export const providerFailures = [
  failure(502, ['provider_error'], 'The provider failed, or sent something that is no result.'),
] as const;

export const byStatus = (...answers: Answer[]): Answer[] => answers.sort((a, b) => a.status - b.status);
