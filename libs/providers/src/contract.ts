import type { Bucket, ErrorReply, FieldError } from '#errors';
import type { Json, JsonPointer, SurpriseKind } from '#schemas';
import type { CheckSpec } from './check-spec.js';
import type { InputHeaders, TakenHeaders } from './input-headers.js';
import type { AccountReports, AccountTrouble } from './condition.js';

/** The part of a run that an adapter sees. `body` is the caller's bytes; `upstream` comes from the model row. */
export interface Run {
  runId: string;
  model: string;
  upstream: Record<string, string>;
  body: Uint8Array;
  /** Whether the caller wants the provider's events as they arrive. */
  streams?: boolean | undefined;
  /** Headers of the caller that are a part of the input. */
  headers?: InputHeaders | undefined;
  /** The files that the adapter's `files` returned, by their URLs in the body. */
  files?: ReadonlyMap<string, InputFile>;
  /** The provider's ids of uploaded files, by the same URLs, as the JSON that replaces each URL in the input. */
  uploads?: ReadonlyMap<string, string>;
}

/** The part of a run that is still known when the reply to its submission arrives. */
export type SubmittedRun = Pick<Run, 'runId' | 'model' | 'upstream' | 'streams'>;

/** A caller's file that the input names by URL. */
export interface InputFile {
  mediaType: string;
  bytes: number;
  /** The bytes of a `data:` URL, or the key of the stored object. */
  content: Uint8Array | { storedAs: string };
}

/** A part of a body: bytes, or a stored object, raw or in base64, which is read while it is sent. */
export type BodyPiece = Uint8Array | { storedAs: string; bytes: number; base64?: true };

/** A URL in the input where the provider expects bytes or the id of an upload. */
export interface FileUse {
  url: string;
  path: readonly (string | number)[];
  upload: boolean;
}

/** An HTTP call for the engine to make. The engine adds the credential if the origin may receive it. */
export interface HttpCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  /** A header field that the engine sets to a new UUID in every call. */
  uniqueHeader?: string;
  body?: Uint8Array;
  /** Used instead of `body` if stored files are part of it. */
  pieces?: readonly BodyPiece[];
  /** Present if a success is an event stream, which the engine passes on while it arrives. */
  stream?: EventStream | undefined;
}

/** Server-sent events from a provider. */
export interface EventStream {
  /** Whether the event with this data is kept from the caller. Absent if the caller receives every event. */
  withholds?: ((data: string) => boolean) | undefined;
  /** Begins to read the events of a reply while they arrive. */
  arriving: () => ArrivingEvents;
}

/** The events of a stream that have arrived so far. */
export interface ArrivingEvents {
  /** Takes the data of the next event. */
  take(data: string): void;
  readonly folded: FoldedEvents;
  /** Whether the last event of the stream has arrived. */
  readonly hasEnded: boolean;
  /** Whether the answer's last part has arrived, and the usage has not. */
  readonly isMissingUsage: boolean;
}

/** Everything that the events of a stream brought. */
export interface FoldedEvents {
  /** The reply without a stream, as far as it arrived. */
  document: Json;
  /** Whether the final usage has arrived. */
  hasUsage: boolean;
  /** Whether the provider ended the stream. */
  isComplete: boolean;
  /** The first error as the reply to a call would report it. */
  error?: { status: number; body: Json };
  /** The length of everything that the model wrote. */
  writtenBytes: number;
  /** Whether an event was left out because it is too large. */
  isPartial: boolean;
}

/** Why an event stream ended before its provider ended it. */
export type StreamCut = 'timeout' | 'reset' | 'oversize' | 'cancelled';

/**
 * A reply as received, with header names in lower case. A large success that is not JSON is stored while it arrives:
 * `storedAs` is then its key in the store, and `body` is empty.
 */
export interface HttpReply {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
  storedAs?: string;
  /** The bytes that the caller received, if an event of `body` was withheld. */
  passedOn?: Uint8Array;
  /** Present if an event stream was cut; `body` is the part that arrived. */
  cut?: StreamCut;
  /** Present if the caller left the stream: what its events brought. `body` is empty then. */
  left?: FoldedEvents;
  /** How long the provider worked on an event stream, as far as it is known: from its headers to its last event. */
  streamSeconds?: number;
}

/**
 * No usable reply. `not_sent`: nothing reached the provider; `no_token` and `token_refused` mean that the secret could
 * not be exchanged for a token, temporarily or permanently. `ambiguous`: the call may have been accepted. `oversize`:
 * the reply exceeded the size cap.
 */
export type Fault =
  | {
      fault: 'not_sent';
      cause: 'dns' | 'connect' | 'tls' | 'refused_address' | 'no_key' | 'no_token' | 'token_refused';
    }
  | { fault: 'ambiguous'; cause: 'timeout' | 'reset' }
  | { fault: 'oversize' };

export type Signal = HttpReply | Fault;

/** The values that identify a submitted run in later calls: versioned JSON, saved before the first poll. */
export interface Handle {
  v: number;
  step: 'poll' | 'fetch';
  [key: string]: Json;
}

/** The provider's bytes, or the key of the stored object, and their media type. */
export interface ProviderOutput {
  mediaType: string;
  body: Uint8Array | { storedAs: string };
  /** The key in the store, if the bytes of `body` are already stored. */
  keptAs?: string;
}

/** The bucket of each failure class and the sentence that callers read, which never quotes the provider. */
export const failureClasses = {
  rejected_input: { bucket: 'invalid_input', publicDetail: 'The model does not accept this input.' },
  content_policy: {
    bucket: 'content_policy_violation',
    publicDetail:
      'The provider rejected this content under its content policy. The same input will be rejected again.',
  },
  provider_failed: { bucket: 'provider_error', publicDetail: 'The provider could not complete the run.' },
  provider_timeout: { bucket: 'provider_timeout', publicDetail: 'The provider did not answer in time.' },
  provider_unavailable: {
    bucket: 'service_unavailable',
    publicDetail: 'The provider is temporarily unavailable; try again later.',
  },
  provider_account: { bucket: 'provider_error', publicDetail: 'The provider could not accept the run.' },
  model_gone: { bucket: 'provider_error', publicDetail: 'The provider no longer serves this model.' },
  unreadable: {
    bucket: 'provider_error',
    publicDetail: 'The provider returned a reply that cannot be read as a result.',
  },
} as const satisfies Record<string, { bucket: Bucket; publicDetail: string }>;

export type FailureClass = keyof typeof failureClasses;

/**
 * `retry`: `never`; `new_submit` if the submission was provably not accepted and may be repeated within the time
 * budget; `same_call` if the poll or fetch may be repeated.
 * `capped`, only with `same_call`: the provider replied that it cannot serve this handle. Three such replies in a row
 * end the run with this failure; any other reply resets the count.
 * `account`, only with `provider_account`: what the provider rejects. Absent if only the status 403 says it.
 * `reply`: what the provider answered, if it judged the input or did not accept the call.
 * `note` goes to the log, never to the caller.
 */
export interface ProviderFailure {
  class: FailureClass;
  account?: AccountTrouble;
  retry: 'never' | 'new_submit' | 'same_call';
  fields?: FieldError[];
  reply?: ErrorReply;
  afterMs?: number;
  capped?: true;
  note?: string;
}

/** A reply that the provider's declaration does not expect. `note` is for operators and may quote a word of the reply. */
export interface Surprise {
  kind: SurpriseKind;
  note: string;
}

/** `surprise`: what the provider's declaration does not expect of the reply. It changes nothing for the run. */
export type Outcome =
  /**
   * `progress`: the progress that the provider reports, from 0 to 1. `lacksFiles`: nothing is at the places of the result,
   * so only a cost that the provider reports is billed.
   */
  (
    | { kind: 'pending'; handle: Handle; afterMs: number; progress?: number | undefined }
    | { kind: 'next'; handle: Handle }
    | { kind: 'succeeded'; output: ProviderOutput; lacksFiles?: true }
    | { kind: 'failed'; failure: ProviderFailure }
    | { kind: 'canceled' }
  ) & { surprise?: Surprise | undefined };

/** The content of an event stream, complete or not. */
export interface ArrivedStream {
  /** The same reply without a stream, for the cost that it reports. */
  reply: HttpReply;
  /** Whether its usage is final. Otherwise it was reported before the model had written everything. */
  hasUsage: boolean;
  /** The tokens that the model wrote, estimated from what arrived, and from `hiddenTokens` unless the provider broke off. */
  arrivedTokens: number;
}

/** A record that the provider keeps of a stream, for the cost of one that ended without its usage. */
export interface StreamRecord {
  call: HttpCall;
  /** The reply without a stream, as far as the record has it. Undefined if the provider does not have the record yet. */
  read(signal: Signal): HttpReply | undefined;
}

/**
 * How callers request an event stream: with a member of the input that has this value, by default true, or with `?alt=sse`
 * on the call.
 */
type StreamRequest = { member: string; value?: string | undefined } | { alt: 'sse' };

/** `maxTokens`: the places in the input that limit the tokens of the answer. */
export interface StreamTerms {
  request: StreamRequest;
  maxTokens: readonly string[];
  /** Texts, by their places in events, whose parts are joined. In an inner list, the first place with a text counts. */
  text: readonly (JsonPointer | readonly JsonPointer[])[];
}

/**
 * Exchanges a secret for a short-lived token. Only this call carries the secret; `credential` gets the token in its
 * place.
 */
export interface TokenExchange {
  /** Throws if the secret does not have the form that the exchange needs. */
  call(secret: string, nowMs: number): HttpCall;
  /** Undefined if a 2xx reply has no token. */
  read(reply: HttpReply): { token: string; lifeMs: number } | undefined;
}

/** `id` is the JSON that replaces the file in the input. */
interface FileUpload {
  call(file: InputFile): HttpCall;
  read(signal: Signal): { id: string; failure?: undefined } | { failure: ProviderFailure };
}

/** Pure: builds requests and reads replies. The engine owns sockets, credentials, deadlines and persistence. */
export interface ProviderAdapter {
  /** Only these origins ever see our key. */
  readonly credentialOrigins: readonly RegExp[];
  /** Whether downloads of assets from those origins need our key. If absent, the key is not sent. */
  readonly assetsNeedKey?: boolean | undefined;
  /** Whether assets are on the origin of the base, which may be called for them even if it is not public. */
  readonly assetsFromBase?: boolean | undefined;
  /** Present if calls carry a token instead of the secret. */
  readonly exchange?: TokenExchange;
  /** Header fields that authenticate `call`; with an exchange, `secret` is the token. */
  credential(call: HttpCall, secret: string, nowMs: number): Record<string, string>;
  /** Query parameters that authenticate a call. */
  credentialQuery?: ((secret: string) => Record<string, string>) | undefined;
  /** Files in the input that the engine must look up before `submit`. Absent if the provider takes URLs. */
  files?(run: Run): FileUse[];
  /**
   * The call made before the submission for each file use with `upload`. It starts nothing and costs nothing, so the
   * engine may repeat it; the submission itself still happens at most once.
   */
  upload?(run: Run): FileUpload | undefined;
  /** Throws `RefusedInput` if the input cannot be sent. */
  submit(run: Run): HttpCall;
  /** `assets`: the places of files in the output, from the model's row. */
  onSubmit(run: SubmittedRun, signal: Signal, assets?: readonly string[]): Outcome;
  /**
   * Reads an event stream that answers a run with `streams`. Undefined for any other reply. `hiddenTokens`: how many
   * tokens the model has written at least in the time of the call.
   */
  readStream?(run: SubmittedRun, reply: HttpReply, hiddenTokens: number): ArrivedStream | undefined;
  /** The tokens that the model wrote, as a reply without a stream reports them. Undefined if it does not. */
  writtenTokens?(run: SubmittedRun, reply: HttpReply): number | undefined;
  /** The provider's record of the stream. Undefined if it keeps none, or if its id did not arrive. */
  streamRecord?(run: SubmittedRun, reply: HttpReply): StreamRecord | undefined;
  /** Poll or fetch, by `handle.step`. */
  resume?(handle: Handle): HttpCall;
  onResume?(handle: Handle, signal: Signal, assets?: readonly string[]): Outcome;
  /** Undefined if the provider has no cancel call for this handle. */
  cancel?(handle: Handle): HttpCall | undefined;
  onCancel?(handle: Handle, signal: Signal): 'requested' | 'too_late' | 'unknown';
  /** Signs links to our own storage in a result and leaves the rest unchanged. */
  sign?(output: ProviderOutput, runId: string, secret: string, nowMs: number): ProviderOutput;
}

/** An additional setting, PROVIDER_<NAME>_<KEY>. Without a value or a default it is an empty string. */
interface ProviderSetting {
  description: string;
  example: string;
  default?: string;
}

/** The kinds of tools that run at the caller, and the tokens that the provider adds for each. */
export type CallerTools = Readonly<Record<string, number>>;

/** A kind of tool that runs at the provider. */
export interface ProviderTool {
  /** The tokens that its use likely adds to the input of a run. */
  likely_tokens: number;
  /** Absent if only its tokens are billed. */
  fee?: ToolFee | undefined;
}

/** The fee of each call of a tool, in US dollars. */
export interface ToolFee {
  usd: number;
  /** The number of calls in the reply; see `ReportedTerm`. */
  reported: { path: JsonPointer } | { count: JsonPointer; only?: Record<string, unknown>; most?: number };
  /** The same in a stream that ended before its usage, if that differs. */
  early?: ToolFee['reported'] | undefined;
  /** The place in the input, or in the tool, of the maximum number of calls. */
  limit?: JsonPointer | undefined;
  tool_limit?: JsonPointer | undefined;
  /** The calls of a run, likely and at most, if the input sets no maximum. */
  likely: number;
  most: number;
}

export type ProviderTools = Readonly<Record<string, ProviderTool>>;

/** One provider. `create` binds the adapter to a base URL: the provider's own, or a simulator's. */
export interface ProviderDefinition {
  /** The provider segment of model ids; also names the settings PROVIDER_<NAME>_BASE_URL and _KEY. */
  name: string;
  defaultBase: string;
  /** Time limit of one submission call in milliseconds, including its reply. */
  submitTimeoutMs: number;
  settings?: Readonly<Record<string, ProviderSetting>>;
  /** Whether its API uses protobuf JSON, which accepts each field in snake case and in camel case. */
  takesBothSpellings?: boolean;
  /** How callers request event streams from models with this `upstream`. Undefined if they do not stream. */
  streams?: ((upstream: Readonly<Record<string, string>>) => StreamTerms | undefined) | undefined;
  /** Members of the input that request another kind of reply, which these models do not have. */
  refusesTrue?: ((upstream: Readonly<Record<string, string>>) => readonly string[]) | undefined;
  /** The tools that run at the caller, of models with this `upstream`. The others run at the provider. */
  callerTools?: ((upstream: Readonly<Record<string, string>>) => CallerTools | undefined) | undefined;
  /** The tools that run at the provider and whose cost is known, of models with this `upstream`. */
  providerTools?: ((upstream: Readonly<Record<string, string>>) => ProviderTools | undefined) | undefined;
  /** The entries of `upstream` that differ in the free call that counts the tokens of an input. Undefined for models without one. */
  tokenCount?:
    ((upstream: Readonly<Record<string, string>>) => Record<string, string> | undefined) | undefined;
  /** The headers of the caller that it reads as a part of the input. */
  inputHeaders?: TakenHeaders | undefined;
  /** The whole declaration of a provider from a catalog directory. Equal texts mean equal providers. */
  declaration?: string;
  /** How it reports account problems. By default, only by the statuses 401, 402 and 403. */
  account?: AccountReports | undefined;
  /** A free call that proves the key. Absent if none is documented. */
  check?: CheckSpec | undefined;
  create(base: string, settings: Readonly<Record<string, string>>): ProviderAdapter;
}
