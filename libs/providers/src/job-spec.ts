import type { HttpCall, Run } from './contract.js';
import type { Pointer } from './pointer.js';
import type { Rule } from './rules.js';

/** What a partner's status word means; a word that is not listed means `running`. */
export type Life = 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled';

/**
 * One value of the handle and its place in the submit reply. `url` is checked before it is kept; an optional
 * value that is missing or no usable URL is left out, a required one makes the reply unreadable.
 */
interface HandleField {
  at: Pointer;
  url?: true;
  optional?: true;
}

export type HandleFields = Readonly<Record<string, HandleField>>;

export type Kept<F extends HandleFields> = {
  [K in keyof F]: F[K] extends { optional: true } ? string | undefined : string;
};

interface PollSpec<F extends HandleFields> {
  call(kept: Kept<F>): HttpCall;
  /** Where the status word is; a number or boolean there is looked up by its text. */
  status: Pointer;
  life: Readonly<Record<string, Life>>;
  everyMs: number;
  /** A success that holds nothing here is no result. */
  needs?: Pointer;
}

export interface CancelRule {
  http?: number;
  where?: Pointer;
  is?: string | boolean;
  answer: 'requested' | 'too_late';
}

interface JobBase {
  /** Without a trailing slash. */
  base: string;
  credentialOrigins: readonly RegExp[];
  auth(secret: string, nowMs: number): Record<string, string>;
  submit: {
    url(run: Run): string;
    headers?: Readonly<Record<string, string>>;
    /** Statuses besides 429 by which the partner says that it has not accepted the submission. */
    refusals?: readonly number[];
  };
  rules: readonly Rule[];
}

/**
 * One partner protocol as data. Without `poll` the submit reply is the result. With it, the handle is read
 * from the submit reply and polled; the final poll body is the result, or, with `fetch`, that call's body is.
 */
export type JobSpec<F extends HandleFields> =
  | (JobBase & { handle?: undefined; poll?: undefined; fetch?: undefined; cancel?: undefined })
  | (JobBase & {
      handle: F;
      poll: PollSpec<F>;
      fetch?: { call(kept: Kept<F>): HttpCall };
      /** The first reply rule that holds decides; otherwise 2xx is `requested`, anything else `unknown`. */
      cancel?: { call(kept: Kept<F>): HttpCall; replies: readonly CancelRule[] };
    });
