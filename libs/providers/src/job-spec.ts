import type { Json, JsonPointer } from '#schemas';
import type { HttpCall, HttpReply, Run, TokenExchange } from './contract.js';
import type { Encoding } from './encodings.js';
import type { StreamSpec } from './event-fold.js';
import type { FieldReader } from './fields.js';
import type { Base64Place } from './input-files.js';
import type { AccountReports, Condition } from './condition.js';
import type { Rule } from './rules.js';

/** The meaning of a provider's status word, ignoring case. A word that is not listed means `running`. */
export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled';

/**
 * One value of the handle: its place in the submit reply, its place in the last poll reply (`polled`, for the fetch),
 * or an entry of the model row's `upstream`. A `url` must be on one of the provider's origins. If a value is missing or
 * such a URL is invalid, an optional value is omitted, and a required value makes the reply unreadable.
 */
type HandleField =
  | { path: JsonPointer; url?: true; optional?: true; polled?: undefined }
  | { path: JsonPointer; polled: true; url?: undefined; optional?: undefined }
  | { upstream: string; optional?: undefined };

export type HandleFields = Readonly<Record<string, HandleField>>;

export type Kept<F extends HandleFields> = {
  [K in keyof F]: F[K] extends { optional: true } ? string | undefined : string;
};

interface PollSpec<F extends HandleFields> {
  call(kept: Kept<F>): HttpCall;
  /** The place of the status word, or `http` for the reply's HTTP status. Numbers and booleans are compared as text. */
  status: JsonPointer | 'http';
  statuses: Readonly<Record<string, RunStatus>>;
  everyMs: number;
  /** The place of the progress number, and the number that means finished. */
  progress?: { path: JsonPointer; max: number } | undefined;
}

export interface CancelRule {
  http?: number;
  path?: JsonPointer;
  equals?: string | boolean;
  answer: 'requested' | 'too_late';
}

interface JobBase {
  /** Without a trailing slash. */
  base: string;
  /** Origins, besides the base's own, that may receive the key. */
  credentialOrigins?: readonly RegExp[];
  assetsNeedKey?: boolean | undefined;
  /** Whether assets are on the origin of `base`, public or not. */
  assetsFromBase?: boolean | undefined;
  exchange?: TokenExchange | undefined;
  /** Header fields that authenticate a call. By default, a bearer token. */
  auth?(secret: string, nowMs: number, call: HttpCall): Record<string, string>;
  /** Query parameters that authenticate a call. */
  authQuery?: (secret: string) => Record<string, string>;
  submit?: {
    /** By default, the row's path below the base. */
    url?(run: Run): string;
    headers?: (run: Run) => Readonly<Record<string, string>>;
    /** How the caller's bytes become the request body. By default, they are the body. */
    encode?: Encoding;
    /** The call for an input with one of these members, unless there is no URL for the run's model. */
    variant?: { contains: readonly string[]; url(run: Run): string | undefined; encode?: Encoding };
    /** Where the input may have a file URL and the provider takes base64. */
    base64?: readonly Base64Place[];
    /** Files that must be uploaded to the provider before the submission. */
    upload?: {
      /** Where the input may have a file URL or a `data:` URL instead of the provider's id for the file. */
      paths: readonly JsonPointer[];
      /** The URL that takes one file as the form field `part`. */
      url: string;
      part: string;
      /** The place of the id in its reply. */
      id: JsonPointer;
    };
    /** Statuses, besides 429, that mean that the provider did not accept the submission. */
    retryStatuses?: readonly number[];
  };
  /** How the result is streamed, if the provider streams it. */
  stream?: StreamSpec | undefined;
  /** A header field that gets a new value in every call. */
  uniqueHeader?: string;
  /** The part of a reply that rules and `resultPaths` see. By default, all of its JSON. */
  view?: (reply: HttpReply) => Json | undefined;
  /** How it reports account problems. `meaningOf` decides between these and the rules. */
  account?: AccountReports | undefined;
  rules: readonly Rule[];
  /** How this provider reports a rejected input, if not in FastAPI's format. */
  fields?: FieldReader;
  /** The place of the seconds to wait in an error body, used if there is no `Retry-After`. */
  retryAfter?: JsonPointer;
  /** Conditions on a result, one of which must hold. All conditions of an inner list must hold. */
  successWhen?: readonly (Condition | readonly Condition[])[] | undefined;
  /**
   * Places in a JSON result. Without a value at one of them, a success lacks its files. An empty list accepts no JSON.
   * `assets`: the places from the model's row.
   */
  resultPaths?: readonly JsonPointer[] | 'assets' | undefined;
  /** The result may also be the file itself: a success that is an image, audio, video or model, or neither text nor JSON. */
  fileResults?: true;
}

/**
 * One provider protocol as data. Without `poll`, the submit reply is the result. With it, the handle is read from the
 * submit reply and polled; the result is the final poll body or, with `fetch`, the body of that call.
 */
export type JobSpec<F extends HandleFields> =
  | (JobBase & { handle?: undefined; poll?: undefined; fetch?: undefined; cancel?: undefined })
  | (JobBase & {
      handle: F;
      poll: PollSpec<F>;
      fetch?: { call(kept: Kept<F>): HttpCall };
      /**
       * No call is made if the handle lacks a value for it. The first matching reply rule decides; otherwise, 2xx means
       * `requested` and anything else `unknown`.
       */
      cancel?: { call(kept: Kept<F>): HttpCall | undefined; replies: readonly CancelRule[] };
    });
