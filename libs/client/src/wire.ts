import type { Bucket } from './router-error.js';

declare const output: unique symbol;

/**
 * Identifies a run in all further calls. It is plain JSON, so another process can store and use it. `Output` is the
 * type of the model's output, and does not exist at run time.
 */
export interface RunHandle<Output = unknown> {
  request_id: string;
  status_url: string;
  response_url: string;
  cancel_url: string;
  readonly [output]?: Output;
}

export interface RunStatus<Output = unknown> extends RunHandle<Output> {
  status: 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED';
  /** Number of the workspace's runs ahead of this one; only while it is `IN_QUEUE`. */
  queue_position?: number;
  /** Why a completed run did not succeed. */
  error_type?: Bucket;
  /** From 0 to 1, if the provider reports progress and the status is streamed. */
  progress?: number;
}

export interface CancelAnswer {
  request_id: string;
  /** A requested cancellation is not guaranteed: a run that was already submitted may still complete and be billed. */
  status: 'CANCELLATION_REQUESTED' | 'ALREADY_COMPLETED';
}

export interface ModelEntry {
  id: string;
  provider: string;
  model: string;
  /** Whether a content policy rejection by the provider is billed. Treat unknown values as `yes`. */
  billing: { charges_on_policy_rejection: 'yes' | 'no' | 'unknown' };
}

export interface ModelPage {
  data: ModelEntry[];
  has_more: boolean;
  next_cursor?: string;
}
