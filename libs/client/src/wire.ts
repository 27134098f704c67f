import type { Bucket, FieldError } from './router-error.js';

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

/** A kind of input or output. */
export type Modality = 'text' | 'image' | 'video' | 'audio' | '3d' | 'embedding';

export interface ModelEntry {
  id: string;
  provider: string;
  model: string;
  /** Whether a content policy rejection by the provider is billed. Treat unknown values as `yes`. */
  billing: { charges_on_policy_rejection: 'yes' | 'no' | 'unknown' };
  title?: string;
  description?: string;
  input_modalities: Modality[];
  output_modalities: Modality[];
  /** The tasks of the model, such as `text-to-image`. */
  tasks: string[];
  /** `from_usd` is the price of one unit with the cheapest options, in US dollars; `text` is the complete price. */
  price: Price & { date?: string; next?: Price & { from: string } };
  aliases: string[];
  /** The providers that can serve the model, its own first. */
  servers: string[];
  /** Whether the simulator answers in place of the provider, which generates nothing. */
  simulated?: true;
}

interface Price {
  from_usd: number;
  unit: string;
  text: string;
}

interface EstimatedCents {
  /** The amount that is billed, unless the provider reports the usage. */
  expected_cents: number;
  /** The amount that is reserved while the run is live. */
  reserved_cents: number;
  /** The largest amount that may be billed. */
  max_cents: number;
}

/** The price of a run with an input, in US cents. */
export interface CostEstimate extends EstimatedCents {
  /** `reported`: the provider will report the usage. `computed`: depends on the input. `flat`: does not. */
  basis: 'flat' | 'computed' | 'reported';
  /** After the next announced change of the price, which is on the day `from` (UTC). */
  next?: EstimatedCents & { from: string };
}

/** A run in the workspace's list. Times are ISO 8601, amounts US cents. What does not apply is absent. */
export interface RunEntry extends Partial<Omit<RunHandle, 'request_id'>> {
  request_id: string;
  model: string;
  status: RunStatus['status'];
  outcome?: 'succeeded' | 'failed' | 'cancelled';
  error_type?: Bucket;
  key_id?: string;
  key_name?: string;
  tags?: Record<string, string>;
  user?: string;
  created_at: string;
  granted_at?: string;
  started_at?: string;
  output_at?: string;
  completed_at?: string;
  duration_ms?: number;
  reserved_cents: number;
  cost_cents?: number;
  cost_basis?: CostEstimate['basis'];
  result_available: boolean;
  simulated?: true;
}

export interface RunDetails extends RunEntry {
  error_detail?: string;
  error_fields?: FieldError[];
  attempts?: number;
  cancel_requested_at?: string;
  asset_count?: number;
  webhook?: WebhookDelivery;
}

export interface WebhookDelivery {
  request_id: string;
  model: string;
  error_type?: Bucket;
  url: string;
  form: 'standard' | 'fal' | 'replicate';
  state: 'pending' | 'delivered' | 'given_up';
  tries: number;
  problem?: string;
  created_at: string;
  next_try_at?: string;
  ended_at?: string;
}

export type UsageGrouping = 'day' | 'model' | 'key' | 'user' | `tag:${string}`;

interface UsageNumbers {
  runs: number;
  succeeded: number;
  cost_cents: number;
}

/** The runs that ended in a time range, and what they cost. */
export interface Usage {
  from: string;
  to: string;
  group_by: UsageGrouping[];
  data: (UsageNumbers & {
    day?: string;
    model?: string;
    key_id?: string;
    tags?: Record<string, string>;
    user?: string;
  })[];
  total: UsageNumbers;
}

export interface UploadedFile {
  id: string;
  /** For use in inputs. Anyone with it can open the file until it expires. */
  url: string;
  content_type: string;
  /** In bytes. */
  size: number;
  expires_at: string;
}

export interface Page<Entry> {
  data: Entry[];
  has_more: boolean;
  next_cursor?: string;
}
