import type { IncomingHttpHeaders } from 'node:http';
import type { Control } from './control.js';
import type { Generation, Phase } from './ledger/generation.js';

/** A reply as a partner words it: an object is sent as JSON, a string and bytes as they stand. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body: object | string | Buffer;
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

/** What of a request may name a generation; the body is an empty object when it is no JSON object. */
export interface Asked {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
}

/** An address that takes submissions. */
export interface PartnerSubmit {
  path: string;
  /** The model that a submission addresses; undefined when it names none. */
  modelOf(params: Record<string, string>, body: Record<string, unknown>): string | undefined;
  prompt: {
    loc: (string | number)[];
    read(body: Record<string, unknown>): unknown;
    optionalFor?(model: string): boolean;
  };
  /** It takes multipart/form-data and no JSON; files are left out of the body that is read. */
  form?: true;
  /** The reply is the result: it is held back until the generation has ended. */
  atOnce?: true;
  /** What this partner wants beside a prompt; a reply is a refusal. */
  refuses?(headers: IncomingHttpHeaders, body: Record<string, unknown>): Reply | undefined;
  answer(view: View): Reply;
}

/** One call on an existing generation. `:id` of the path, or `id` of the query, names it, or what `idOf` finds. */
export interface PartnerCall {
  listener: 'api' | 'assets';
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  role: 'poll' | 'result';
  idOf?: (asked: Asked) => string;
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
  /** What has begun cannot be cancelled. */
  queuedOnly?: true;
  answer(verdict: CancelVerdict, before: Phase): Reply;
  unknown(id: string): Reply;
}

/** A call that needs no key, such as the one that gives out a token. */
interface PartnerDoor {
  method: 'GET' | 'POST';
  path: string;
  answer(asked: { body: Buffer; url: string; nowMs: number }): Reply;
}

/** A refusal of a submission that is worded the same for every body. */
type Refusal = 'unauthorized' | 'no_credit' | 'throttled' | 'unavailable' | 'broken';

/** One simulated partner. A folder under `partners/` and a line in its list add another one. */
export interface Partner {
  /** Base path on both listeners. */
  name: string;
  authorized(headers: IncomingHttpHeaders, nowMs: number): boolean;
  /** A header that every call must carry, each with a value of its own. */
  traceHeader?: string;
  /** Its ids are numbers of 64 bits. */
  numericIds?: true;
  submits: PartnerSubmit[];
  refusals: Record<Refusal, Reply>;
  /** Null: the partner refuses no prompt at submission; the generation is accepted and ends at once. */
  policyRefusal: ((prompt: string) => Reply) | null;
  fieldErrors(errors: FieldError[]): Reply;
  /** What `[[sim:field_error]]` complains about. */
  exampleFieldError: FieldError;
  calls: PartnerCall[];
  cancel: PartnerCancel | null;
  /** Null when results hold their files themselves. */
  asset: {
    path: string;
    /** Whether the URL is no longer, or never was, good for this generation. */
    refused?(generation: Generation, query: Record<string, unknown>, nowMs: number): boolean;
  } | null;
  doors?: PartnerDoor[];
  /** An account's key that this partner takes, where not every text will do; `api` is its own base URL. */
  issueKey?: (api: string) => string;
}
