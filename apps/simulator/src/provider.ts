import type { IncomingHttpHeaders } from 'node:http';
import type { Control } from './control.js';
import type { Generation, Phase } from './ledger/generation.js';

/** One simulated provider. An entry in `providers/providers.ts` adds another one. */
export interface Provider {
  /** Base path on both listeners, and the name of its file of replies and its folder of schemas. */
  name: string;
  /** Default: any bearer token. */
  authorized?: (headers: IncomingHttpHeaders, nowMs: number) => boolean;
  /** Whether the whole call is signed as it should be, body included, where a header alone does not show that. */
  signed?: (call: ArrivedCall, nowMs: number) => boolean;
  /** Where all calls have one address: the path in its protocols that stands for this one. */
  addressOf?: (call: ArrivedCall) => string;
  /** A header that every call must carry, each with a value of its own. */
  traceHeader?: string;
  /** Its ids are numbers of 64 bits. */
  numericIds?: true;
  protocols: Protocol[];
  /** Files are good only under a signed link. */
  links?: {
    queryOf: (generation: Generation) => string;
    accepts: (generation: Generation, query: Record<string, unknown>, nowMs: number) => boolean;
  };
  /** A call that takes a file, whose id submissions may then name. */
  upload?: UploadRoute;
  /** A call that needs no key, such as the one that gives out a token. */
  open?: { path: string; answer: (request: { body: Buffer; url: string; nowMs: number }) => Reply };
  /** An account's key, where not every text will do; `api` is the provider's own base URL. */
  issueKey?: (api: string) => string;
}

/** One call as it arrived. */
export interface ArrivedCall {
  method: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** `members` of a submission are ids of uploads. */
export interface UploadRoute {
  path: string;
  /** The field of the form that the file is. */
  part: string;
  members: readonly string[];
}

/** Addresses that answer in one way. Without `poll`, the result comes with the submission's reply. */
export interface Protocol {
  /** The part of the provider's file that holds its replies, where there are several. */
  name?: string;
  submits: Submit[];
  /** Polling URLs lead to the provider's other host, which takes no key. */
  pollsElsewhere?: true;
  poll?: Call;
  /** Brings the result, once the poll says that it is there. */
  fetch?: Call;
  /** What has begun cannot be cancelled where it is `queuedOnly`. */
  cancel?: { method: 'POST' | 'PUT' | 'DELETE'; path: string; queuedOnly?: true };
  /** The ending of the names of the replies to this generation, where there are such. */
  variantOf?: (view: View) => string;
  /** What stands for placeholders of this protocol's replies. */
  values?: (view: View) => Record<string, string>;
  /** Ids are JSON numbers when `[[sim:int64_id]]` asks for one. */
  bareIds?: true;
}

/** An address that takes submissions. */
export interface Submit {
  path: string;
  /** What the generation is of in the ledger. Default: the body's `model`. */
  modelOf?: (params: Record<string, string>, body: Record<string, unknown>) => unknown;
  /** Default: the body's `prompt`. */
  promptOf?: (body: Record<string, unknown>) => unknown;
  /** Some models do without one. */
  promptOptional?: boolean | ((model: string) => boolean);
  /** Headers that it must carry. */
  headers?: Record<string, string>;
  /** The body is a list with one element, which is what counts. */
  listed?: true;
  /** Where the caller names the generation: its name, which no other one has. Default: an id of the provider's own. */
  idOf?: (body: Record<string, unknown>) => unknown;
  /** It takes multipart/form-data and no JSON, or either; files are left out of the body that is read. */
  form?: true | 'or JSON';
}

/** One call on a generation, which `:id` of the path names, or `id` of the query, or what `idOf` finds. */
export interface Call {
  method?: 'GET' | 'POST';
  path: string;
  idOf?: (request: { query: Record<string, string>; body: Record<string, unknown> }) => string;
}

/** A string and bytes are sent as they stand, an object as JSON. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body: object | string | Buffer;
}

/** The view of a generation by which a provider words its reply. */
export interface View {
  generation: Generation;
  control: Control;
  phase: Phase;
  /** The provider's base URLs, without a slash at the end. */
  api: string;
  assets: string;
}

/** The bearer token of a request, empty when it has none. */
export const bearerOf = (headers: IncomingHttpHeaders): string =>
  /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';

/** Any text in the header will do. */
export const keyIn =
  (name: string) =>
  (headers: IncomingHttpHeaders): boolean =>
    typeof headers[name] === 'string' && headers[name] !== '';
