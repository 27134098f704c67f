import type { Json, JsonPointer } from '#schemas';
import type { HttpCall, HttpReply, Run, TokenExchange } from './contract.js';
import type { Encoding } from './encodings.js';
import type { FieldReader } from './fields.js';
import type { Base64Place } from './input-files.js';
import type { AccountReports, Condition } from './condition.js';
import type { Rule } from './rules.js';

/** The meaning of a provider's status word, in whatever case; a word that is not listed means `running`. */
export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled';

/**
 * One value of the handle: its place in the submit reply, its place in the poll reply that says that the run has
 * ended (`polled`, for the fetch), or the entry of the model row's address. `url` must lead to an origin of the
 * provider's; an optional value that is missing or no such URL is left out, a required one makes the reply
 * unreadable.
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
  /** The place of the status word, or `http` when the reply's own status is it. A number or boolean counts by its text. */
  status: JsonPointer | 'http';
  statuses: Readonly<Record<string, RunStatus>>;
  everyMs: number;
  /** Where the number stands that says how far it is, and the number that means all. */
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
  /** The origins besides the base's own to which the key may go. */
  credentialOrigins?: readonly RegExp[];
  assetsNeedKey?: boolean | undefined;
  /** Whether assets lie on the origin of `base`, public or not. */
  assetsFromBase?: boolean | undefined;
  exchange?: TokenExchange | undefined;
  /** The header fields that authenticate a call; left out, a bearer token. */
  auth?(secret: string, nowMs: number, call: HttpCall): Record<string, string>;
  /** The same in the query. */
  authQuery?: (secret: string) => Record<string, string>;
  submit?: {
    /** Left out, the row's path below the base. */
    url?(run: Run): string;
    headers?: (run: Run) => Readonly<Record<string, string>>;
    /** How the caller's bytes become the request body; left out, they are the body. */
    encode?: Encoding;
    /** The call for an input that holds one of these members, unless it has no address for the run's model. */
    variant?: { contains: readonly string[]; url(run: Run): string | undefined; encode?: Encoding };
    /** Where the input may have the URL of a file and the provider takes its base64. */
    base64?: readonly Base64Place[];
    /** Files that the provider has to have before it is told of them. */
    upload?: {
      /** Where the input may have the URL of a file, or a `data:` URL, in the place of the provider's id of it. */
      paths: readonly JsonPointer[];
      /** The address that takes one file in a form, as the field `part`. */
      url: string;
      part: string;
      /** Where its reply has the id. */
      id: JsonPointer;
    };
    /** Statuses besides 429 by which the provider says that it has not accepted the submission. */
    retryStatuses?: readonly number[];
  };
  /** A header field that wants another value in every call. */
  uniqueHeader?: string;
  /** The part of a reply that rules and `resultPaths` see; left out, all of its JSON. */
  view?: (reply: HttpReply) => Json | undefined;
  /** How it reports trouble with our account; `meaningOf` says which of these and the rules counts. */
  account?: AccountReports | undefined;
  rules: readonly Rule[];
  /** How this provider words a rejected input where it does not do so like FastAPI. */
  fields?: FieldReader;
  /** Where an error body says how many seconds to wait, if it does not say so by `Retry-After`. */
  retryAfter?: JsonPointer;
  /** A result that fits none of these is none, where the provider names a state. Those of a list hold together. */
  successWhen?: readonly (Condition | readonly Condition[])[] | undefined;
  /** A JSON result with nothing at any of these places is no result. `assets`: the places that the model's row names. */
  resultPaths?: readonly JsonPointer[] | 'assets' | undefined;
  /** A result may also come as the file itself: a success that is an image, audio, a video or a model, or neither text nor JSON. */
  fileResults?: true;
}

/**
 * One provider protocol as data. Without `poll` the submit reply is the result. With it, the handle is read
 * from the submit reply and polled; the final poll body is the result, or, with `fetch`, that call's body is.
 */
export type JobSpec<F extends HandleFields> =
  | (JobBase & { handle?: undefined; poll?: undefined; fetch?: undefined; cancel?: undefined })
  | (JobBase & {
      handle: F;
      poll: PollSpec<F>;
      fetch?: { call(kept: Kept<F>): HttpCall };
      /**
       * No call where the handle lacks what it needs. The first reply rule that holds decides; otherwise 2xx is
       * `requested`, anything else `unknown`.
       */
      cancel?: { call(kept: Kept<F>): HttpCall | undefined; replies: readonly CancelRule[] };
    });
