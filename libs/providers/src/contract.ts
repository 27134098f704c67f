import type { Bucket, FieldError } from '#errors';
import type { Json } from '#schemas';
import type { AccountReports } from './condition.js';

/** The facts of a run that an adapter sees. `body` is the caller's own bytes, `upstream` the model row's address. */
export interface Run {
  runId: string;
  model: string;
  upstream: Record<string, string>;
  body: Uint8Array;
  /** The files that the adapter's `files` names, by their URLs in the body. */
  files?: ReadonlyMap<string, InputFile>;
  /** The provider's ids of uploaded files, by the same URLs: the JSON that stands for each in the input. */
  uploads?: ReadonlyMap<string, string>;
}

/** The facts of a run that are still known when its submission is answered. */
export type SubmittedRun = Pick<Run, 'runId' | 'model' | 'upstream'>;

/** A file of the caller's that its input names by a URL. */
export interface InputFile {
  mediaType: string;
  bytes: number;
  /** The bytes of a `data:` URL, or where the store has them. */
  content: Uint8Array | { storedAs: string };
}

/** A part of a body: bytes, or an object of the store, as it is or in base64, which is read while it is sent. */
export type BodyPiece = Uint8Array | { storedAs: string; bytes: number; base64?: true };

/** A URL in the input at a place where the provider takes bytes, or the id of an upload to it. */
export interface FileUse {
  url: string;
  path: readonly (string | number)[];
  upload: boolean;
}

/** One HTTP call an adapter asks the engine to make. The engine adds the credential, if the origin may see it. */
export interface HttpCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  /** A header field that wants another value in every call: the engine fills in a new UUID. */
  uniqueHeader?: string;
  body?: Uint8Array;
  /** In the place of `body`, where files of the store are a part of it. */
  pieces?: readonly BodyPiece[];
}

/**
 * A reply as it arrived; header names are lower case. A large success that is not JSON went into the store as it
 * came: then `storedAs` is its key there, and `body` is empty.
 */
export interface HttpReply {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
  storedAs?: string;
}

/**
 * No usable reply. `not_sent`: provably nothing reached the provider; `no_token` and `token_refused` when the
 * exchange of the secret for a token failed, for now or for good. `ambiguous`: it may have been accepted.
 * `oversize`: the reply broke the size cap.
 */
export type Fault =
  | {
      fault: 'not_sent';
      cause: 'dns' | 'connect' | 'tls' | 'refused_address' | 'no_key' | 'no_token' | 'token_refused';
    }
  | { fault: 'ambiguous'; cause: 'timeout' | 'reset' }
  | { fault: 'oversize' };

export type Signal = HttpReply | Fault;

/** The facts that find a generation again: JSON, versioned, saved before the first poll. */
export interface Handle {
  v: number;
  step: 'poll' | 'fetch';
  [key: string]: Json;
}

/** The provider's own bytes, or the key under which the store has them, and their media type. */
export interface ProviderOutput {
  mediaType: string;
  body: Uint8Array | { storedAs: string };
  /** Where the store has the bytes of `body` already. */
  keptAs?: string;
}

/** The bucket of each failure class and the sentence a caller reads; it never quotes the provider. */
export const failureClasses = {
  rejected_input: { bucket: 'invalid_input', publicDetail: 'The model does not accept this input.' },
  content_policy: {
    bucket: 'content_policy_violation',
    publicDetail:
      'The provider refused this content under its content policy; the same input is refused again.',
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
    publicDetail: 'The provider returned something that cannot be read as a result.',
  },
} as const satisfies Record<string, { bucket: Bucket; publicDetail: string }>;

export type FailureClass = keyof typeof failureClasses;

/**
 * `retry`: `never`; `new_submit` when the submission was provably not accepted and may be made again
 * within the time budget; `same_call` when a poll or fetch may simply be repeated.
 * `capped`, only beside `same_call`: the provider answered that it cannot serve this handle; three such replies
 * in a row end the run with this failure, any other reply starts the count again.
 * `note` goes to the log, never to the caller.
 */
export interface ProviderFailure {
  class: FailureClass;
  retry: 'never' | 'new_submit' | 'same_call';
  fields?: FieldError[];
  afterMs?: number;
  capped?: true;
  note?: string;
}

export type Outcome =
  /** `progress`: how far the provider says that it is, as a share of 1. */
  | { kind: 'pending'; handle: Handle; afterMs: number; progress?: number | undefined }
  | { kind: 'next'; handle: Handle }
  | { kind: 'succeeded'; output: ProviderOutput }
  | { kind: 'failed'; failure: ProviderFailure }
  | { kind: 'canceled' };

/**
 * How a secret is traded for a token that lives shortly. The secret goes into this call and into no other; the
 * token then takes its place in `credential`.
 */
export interface TokenExchange {
  /** Throws when the secret is not of the form that the exchange needs. */
  call(secret: string, nowMs: number): HttpCall;
  /** Undefined when a 2xx reply holds no token. */
  read(reply: HttpReply): { token: string; lifeMs: number } | undefined;
}

/** `id` is the JSON that stands for the file in the input. */
interface FileUpload {
  call(file: InputFile): HttpCall;
  read(signal: Signal): { id: string; failure?: undefined } | { failure: ProviderFailure };
}

/** Pure: builds requests and reads replies. The engine owns sockets, credentials, deadlines and persistence. */
export interface ProviderAdapter {
  /** Only these origins ever see our key. */
  readonly credentialOrigins: readonly RegExp[];
  /** Whether assets on those origins open with our key alone. Absent: it is not sent for them. */
  readonly assetsNeedKey?: boolean | undefined;
  /** Whether assets lie on the origin of the base, which is called for them although it is not public. */
  readonly assetsFromBase?: boolean | undefined;
  /** Where the secret itself never travels. */
  readonly exchange?: TokenExchange;
  /** Header fields that authenticate `call`; `secret` is the token where there is an exchange. */
  credential(call: HttpCall, secret: string, nowMs: number): Record<string, string>;
  /** Query parameters that authenticate a call. */
  credentialQuery?: ((secret: string) => Record<string, string>) | undefined;
  /** Files in the input that the engine has to find before `submit`; none if the provider takes URLs. */
  files?(run: Run): FileUse[];
  /**
   * A call that comes before the submission, for each file whose use says so. It starts nothing and costs nothing, so the
   * engine may repeat it; the submission itself happens at most once all the same.
   */
  upload?(run: Run): FileUpload | undefined;
  /** Throws `RefusedInput` when the input cannot be sent. */
  submit(run: Run): HttpCall;
  /** `assets`: the places of files in the output, as the model's row names them. */
  onSubmit(run: SubmittedRun, signal: Signal, assets?: readonly string[]): Outcome;
  /** Poll or fetch, by `handle.step`. */
  resume?(handle: Handle): HttpCall;
  onResume?(handle: Handle, signal: Signal, assets?: readonly string[]): Outcome;
  /** Undefined when the provider has no cancel call for this handle. */
  cancel?(handle: Handle): HttpCall | undefined;
  onCancel?(handle: Handle, signal: Signal): 'requested' | 'too_late' | 'unknown';
  /** Signs links to our own storage in a result; everything else of it stays as it is. */
  sign?(output: ProviderOutput, runId: string, secret: string, nowMs: number): ProviderOutput;
}

/** One more setting of a provider, PROVIDER_<NAME>_<KEY>; without a value or a default it is the empty text. */
interface ProviderSetting {
  description: string;
  example: string;
  default?: string;
}

/** One provider. `create` binds the adapter to a base URL: the provider's own, or a simulator's. */
export interface ProviderDefinition {
  /** The provider segment of model ids; also names the settings PROVIDER_<NAME>_BASE_URL and _KEY. */
  name: string;
  defaultBase: string;
  /** Bound on one submission call in milliseconds, its reply included. */
  submitTimeoutMs: number;
  settings?: Readonly<Record<string, ProviderSetting>>;
  /** Whether its JSON is protobuf's, which takes each field in snake case and in camel case. */
  takesBothSpellings?: boolean;
  /** The whole text of it, for a provider that a catalog directory declares: equal texts are equal providers. */
  declaration?: string;
  /** How it reports trouble with our account; left out, by the statuses 401, 402 and 403 alone. */
  account?: AccountReports | undefined;
  create(base: string, settings: Readonly<Record<string, string>>): ProviderAdapter;
}
