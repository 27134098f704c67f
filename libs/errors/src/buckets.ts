export interface BucketFacts {
  /** The HTTP status, unless an error overrides it with one of `otherStatuses`. */
  status: number;
  otherStatuses?: readonly number[];
  /** The opening sentence of the bucket's documentation page. */
  meaning: string;
}

/** The closed set of error buckets. */
export const buckets = {
  invalid_input: {
    status: 400,
    otherStatuses: [404, 409, 410, 413, 415, 422],
    meaning: 'The request cannot be processed as sent, or the model rejected its input.',
  },
  content_policy_violation: {
    status: 400,
    meaning: 'The provider rejected the content. The same input will be rejected again.',
  },
  provider_error: {
    status: 502,
    meaning: 'The provider failed or returned something that cannot be read as a result.',
  },
  provider_timeout: { status: 504, meaning: 'The provider did not answer within its own time budget.' },
  insufficient_credits: {
    status: 402,
    meaning: 'The workspace does not have enough credits to run the model.',
  },
  model_not_found: { status: 404, meaning: 'No model with this id is visible to the caller.' },
  unauthorized: { status: 401, meaning: 'The request has no valid credential.' },
  forbidden: { status: 403, meaning: 'The credential is valid but does not permit this model or operation.' },
  concurrency_limit_exceeded: {
    status: 429,
    meaning: 'The workspace has reached its limit of calls in flight or of committed spend.',
  },
  client_disconnected: {
    status: 499,
    otherStatuses: [409],
    meaning: 'The caller closed the connection, or its run was cancelled.',
  },
  internal_error: { status: 500, meaning: 'The router itself failed.' },
  deadline_exceeded: {
    status: 504,
    meaning: 'The router stopped holding the connection; nothing was rejected.',
  },
  not_enabled: { status: 403, meaning: 'The router is not switched on for this caller.' },
  service_unavailable: {
    status: 503,
    meaning: 'Something the router depends on is temporarily unavailable.',
  },
  rate_limited: { status: 429, meaning: 'A rate limit was exceeded.' },
} as const satisfies Record<string, BucketFacts>;

export type Bucket = keyof typeof buckets;

export const bucketNames = Object.keys(buckets) as [Bucket, ...Bucket[]];
