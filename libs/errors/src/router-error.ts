import { type Bucket, buckets } from './buckets.js';

/** A provider's refusal, as far as its own clients would read it. */
export interface ErrorReply {
  /** The provider's HTTP status. */
  status: number;
  /** Its JSON, within limits and with its texts cleaned. Absent if it may concern our account. */
  body?: unknown;
  /** When the provider, or its pause, lets calls in again. */
  afterMs?: number;
}

interface RouterErrorOptions {
  /** Overrides the bucket's own status; must be one of its `otherStatuses`. */
  status?: number;
  /** Extra response headers, such as `X-Committed-Spend-Limit`. */
  headers?: Record<string, string>;
  /** The provider's refusal behind it, for clients of the provider. */
  reply?: ErrorReply | undefined;
  /** For the log only; never sent to the caller. */
  internal?: string;
  cause?: unknown;
}

/** The only exception that a gateway turns into an answer. `publicDetail` is safe to show to end users. */
export class RouterError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly reply: ErrorReply | undefined;
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
    this.reply = options.reply;
    this.internal = options.internal;
  }
}
