import type { Bucket } from './router-error.js';

declare const output: unique symbol;

/**
 * Names a run for all that follows. It is plain JSON: keep it where another process finds it. `Output`, of which nothing is
 * there at run time, is what its model puts out.
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
  /** Runs of the workspace that are ahead; only while the run is `IN_QUEUE`. */
  queue_position?: number;
  /** Why a completed run did not succeed. */
  error_type?: Bucket;
  /** A share of 1, where the provider reports one and the status comes as a stream. */
  progress?: number;
}

export interface CancelAnswer {
  request_id: string;
  /** A requested cancellation is no promise: a run that was submitted may still complete, and be billed. */
  status: 'CANCELLATION_REQUESTED' | 'ALREADY_COMPLETED';
}

export interface ModelEntry {
  id: string;
  provider: string;
  model: string;
  /** Whether a refusal by the provider's content policy is billed; take a value that you do not know for yes. */
  billing: { charges_on_policy_rejection: 'yes' | 'no' | 'unknown' };
}

export interface ModelPage {
  data: ModelEntry[];
  has_more: boolean;
  next_cursor?: string;
}
