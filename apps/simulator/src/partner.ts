import type { IncomingHttpHeaders } from 'node:http';
import type { Control } from './control.js';
import type { Generation, Phase } from './ledger/generation.js';

/** A reply as a partner words it: an object is sent as JSON, a string as it stands. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body: object | string;
}

export interface FieldError {
  type: string;
  loc: (string | number)[];
  msg: string;
  input?: unknown;
  ctx?: Record<string, unknown>;
}

/** What a partner sees of one of its generations when it words a reply. */
export interface View {
  generation: Generation;
  control: Control;
  phase: Phase;
  nowMs: number;
  /** The partner's base URLs, without a slash at the end. */
  api: string;
  assets: string;
}

/** One call on an existing generation. `:id` of the path, or `id` of the query, names it. */
export interface PartnerCall {
  listener: 'api' | 'assets';
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  role: 'poll' | 'result';
  answer(view: View): Reply;
  unknown(id: string): Reply;
}

/**
 * `canceled`: takes effect at once; `too_late`: the generation is over, or says so; `ignored`: accepted
 * and without effect.
 */
export type CancelVerdict = 'canceled' | 'too_late' | 'ignored';

export interface PartnerCancel {
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
  answer(verdict: CancelVerdict, before: Phase): Reply;
  unknown(id: string): Reply;
}

/** A refusal of a submission that is worded the same for every body. */
type Refusal = 'unauthorized' | 'no_credit' | 'throttled' | 'unavailable' | 'broken';

/** One simulated partner. A folder under `partners/` and a line in its list add another one. */
export interface Partner {
  /** Base path on both listeners. */
  name: string;
  authorized(headers: IncomingHttpHeaders): boolean;
  submitPath: string;
  /** The model that a submission addresses; undefined when the address names none. */
  modelOf(params: Record<string, string>): string | undefined;
  prompt: {
    loc: (string | number)[];
    read(body: Record<string, unknown>): unknown;
    optionalFor?(model: string): boolean;
  };
  refusals: Record<Refusal, Reply>;
  /** Null: the partner refuses no prompt at submission; the generation is accepted and ends at once. */
  policyRefusal: ((prompt: string) => Reply) | null;
  fieldErrors(errors: FieldError[]): Reply;
  /** What `[[sim:field_error]]` complains about. */
  exampleFieldError: FieldError;
  accepted(view: View): Reply;
  calls: PartnerCall[];
  cancel: PartnerCancel | null;
  asset: {
    path: string;
    /** Whether the URL is no longer, or never was, good for this generation. */
    refused(generation: Generation, query: Record<string, unknown>, nowMs: number): boolean;
  };
}
