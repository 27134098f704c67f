export interface BucketFacts {
  /** The HTTP status, unless one of `otherStatuses` is given with an error. */
  status: number;
  otherStatuses?: readonly number[];
  /** The sentence that the documentation page of the bucket opens with. */
  meaning: string;
}

/** The closed set of error buckets. */
export const buckets = {
  invalid_input: {
    status: 400,
    otherStatuses: [404, 409, 410, 413, 415, 422],
    meaning: 'The request was rejected before, or by, the model: its form or its fields are not acceptable.',
  },
  content_policy_violation: {
    status: 400,
    meaning: 'The provider refused the content; the same input is refused again.',
  },
  provider_error: {
    status: 502,
    meaning: 'The provider reported its own failure or sent something that cannot be read as a result.',
  },
  provider_timeout: { status: 504, meaning: 'The provider did not answer within its own time budget.' },
  insufficient_credits: { status: 402, meaning: 'The calling workspace lacks credits to run the model.' },
  model_not_found: { status: 404, meaning: 'The id names no model that the caller may see.' },
  unauthorized: { status: 401, meaning: 'The request carries no usable credential.' },
  forbidden: { status: 403, meaning: 'The credential is valid but not entitled to this model or operation.' },
  concurrency_limit_exceeded: {
    status: 429,
    meaning: 'The workspace has as many calls, or as much committed spend, in flight as it is allowed.',
  },
  client_disconnected: {
    status: 499,
    otherStatuses: [409],
    meaning: 'The caller withdrew: it closed the connection, or its run was cancelled.',
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
  rate_limited: { status: 429, meaning: 'An allowance that is measured over a window is spent.' },
} as const satisfies Record<string, BucketFacts>;

export type Bucket = keyof typeof buckets;

export const bucketNames = Object.keys(buckets) as [Bucket, ...Bucket[]];
