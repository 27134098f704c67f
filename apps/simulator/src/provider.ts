import type { IncomingHttpHeaders } from 'node:http';
import type { Control } from './control.js';
import type { Generation, Phase } from './ledger/generation.js';
import type { EventForm } from './event-forms.js';

/** One simulated provider. To add one, list it in `providers/providers.ts`. */
export interface Provider {
  /** Base path on both listeners, and the name of its file of replies and its folder of schemas. */
  name: string;
  /** Default: accepts any bearer token. */
  authorized?: (headers: IncomingHttpHeaders, nowMs: number) => boolean;
  /** Verifies a signature over the whole call, body included, if the headers alone are not enough. */
  signed?: (call: ArrivedCall, nowMs: number) => boolean;
  /** For a provider with a single address: maps a call to a path in its protocols. */
  addressOf?: (call: ArrivedCall) => string;
  /** A header that every call must send with a unique value. */
  traceHeader?: string;
  /** IDs are 64-bit numbers. */
  numericIds?: true;
  protocols: Protocol[];
  /** Files need a signed link. */
  links?: {
    queryOf: (generation: Generation) => string;
    accepts: (generation: Generation, query: Record<string, unknown>, nowMs: number) => boolean;
  };
  /** A call that uploads a file; submissions may then name its ID. */
  upload?: UploadRoute;
  /** The provider’s record of a stream, by its id in the query. */
  record?: { path: string; bodyOf: (generation: Generation) => object };
  /** A call that needs no key, such as one that issues a token. */
  open?: { path: string; answer: (request: { body: Buffer; url: string; nowMs: number }) => Reply };
  /** Creates an account key, if the provider doesn't accept any string; `api` is the provider's base URL. */
  issueKey?: (api: string) => string;
}

/** One call as it arrived. */
export interface ArrivedCall {
  method: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** `members` are the members of a submission that hold IDs of uploads. */
export interface UploadRoute {
  path: string;
  /** The form field that holds the file. */
  part: string;
  members: readonly string[];
}

/** A group of addresses with the same kind of replies. Without `poll`, the reply to the submission is the result. */
export interface Protocol {
  /** The section of the provider's reply file to use, if there are several. */
  name?: string;
  submits: Submit[];
  /** Polling URLs point to the provider's other host, which rejects keys. */
  pollsElsewhere?: true;
  poll?: Call;
  /** Fetches the result once a poll reports success. */
  fetch?: Call;
  /** `queuedOnly`: a generation that has started can't be cancelled. */
  cancel?: { method: 'POST' | 'PUT' | 'DELETE'; path: string; queuedOnly?: true };
  /** A suffix for reply names; a reply without a suffixed version is used as it is. */
  variantOf?: (view: View) => string;
  /** Values for placeholders in this protocol's replies. */
  values?: (view: View) => Record<string, string>;
  /** How the reply to a submission is streamed, if the caller requests that. */
  stream?: EventForm;
  /** With `[[sim:int64_id]]`, IDs are JSON numbers. */
  bareIds?: true;
}

/** An address that accepts submissions. */
export interface Submit {
  path: string;
  /** The model in the ledger. Default: the body's `model`. */
  modelOf?: (params: Record<string, string>, body: Record<string, unknown>) => unknown;
  /** Default: the body's `prompt`. */
  promptOf?: (body: Record<string, unknown>) => unknown;
  /** Whether the model works without a prompt. */
  promptOptional?: boolean | ((model: string) => boolean);
  /** Required headers, with their values. */
  headers?: Record<string, string | RegExp>;
  /** The body is a list with exactly one element, the submission. */
  listed?: true;
  /** The unique ID that the caller chooses. Default: the provider creates one. */
  idOf?: (body: Record<string, unknown>) => unknown;
  /** Accepts multipart/form-data only, or JSON as well. Files are not read. */
  form?: true | 'or JSON';
}

/** A call about one generation, whose ID comes from `:id` in the path, `id` in the query, or `idOf`. */
export interface Call {
  method?: 'GET' | 'POST';
  path: string;
  idOf?: (request: { query: Record<string, string>; body: Record<string, unknown> }) => string;
}

/** Strings and bytes are sent as they are, objects as JSON. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body: object | string | Buffer;
}

/** The facts that a reply depends on. */
export interface View {
  generation: Generation;
  control: Control;
  phase: Phase;
  /** The provider's base URLs, without a trailing slash. */
  api: string;
  assets: string;
}

/** The bearer token of a request; empty if there isn't one. */
export const bearerOf = (headers: IncomingHttpHeaders): string =>
  /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';

/** Accepts any non-empty value of the header. */
export const keyIn =
  (name: string) =>
  (headers: IncomingHttpHeaders): boolean =>
    typeof headers[name] === 'string' && headers[name] !== '';
