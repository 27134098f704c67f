import { type Bucket, buckets } from './buckets.js';

interface RouterErrorOptions {
  /** Overrides the bucket's own status; must be one of its `otherStatuses`. */
  status?: number;
  /** Extra response headers, such as `X-Committed-Spend-Limit`. */
  headers?: Record<string, string>;
  /** For the log only; never sent to the caller. */
  internal?: string;
  cause?: unknown;
}

/** The only exception that a gateway turns into an answer. `publicDetail` is safe to show to end users. */
export class RouterError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly internal: string | undefined;

  constructor(
    readonly bucket: Bucket,
    readonly publicDetail: string,
    options: RouterErrorOptions = {},
  ) {
    super(options.internal ?? publicDetail, { cause: options.cause });
    this.name = 'RouterError';
    this.status = options.status ?? buckets[bucket].status;
    this.headers = options.headers ?? {};
    this.internal = options.internal;
  }
}
