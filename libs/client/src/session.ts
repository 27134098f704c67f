import type { Connection } from './calls.js';
import { RouterError } from './router-error.js';
import { timeLimit } from './time-limit.js';

export interface RouterOptions {
  /** An API key. Keep it secret: in a browser, use a short-lived `token` or go through your own server. */
  key?: string | undefined;
  /** An access token. */
  token?: string | undefined;
  /** For example `https://router.example.com`. An undefined one, such as an unset variable, is a `TypeError`. */
  baseUrl: string | undefined;
  /** Time limit of each method call, including retries and waiting. Defaults to 15 minutes. */
  timeoutMs?: number | undefined;
  /** Replaces the global `fetch`, for example to use a proxy. */
  fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  /** Ends the wait, not the run. To end the run, use `cancel`. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/** The ids that an error carries. `runId` is known once the router has answered with it. */
interface CallFacts {
  idempotencyKey?: string;
  runId?: string;
}

/** The bounds of one method call, and the connection for its requests. */
export interface BoundedCall {
  connection: Connection;
  /** Aborts with the reason of the caller's signal, or at the time limit. */
  signal: AbortSignal;
  /** The error to throw: the time limit becomes a `RouterError`, and the reason of the caller's signal stays. */
  explained: (error: unknown) => unknown;
  /** Call this when the work is done or abandoned. */
  end: () => void;
}

/** The settings with which the SDK of a vendor calls the router. */
export interface SdkSettings {
  baseURL: string;
  /** A placeholder: `fetch` adds the credential. */
  apiKey: string;
  fetch: typeof fetch;
}

export interface Session {
  sdk: (path: string) => SdkSettings;
  bounds: (options: CallOptions, facts?: CallFacts) => BoundedCall;
  bounded: <T>(options: CallOptions, act: (call: BoundedCall) => Promise<T>, facts?: CallFacts) => Promise<T>;
}

const defaultTimeoutMs = 900_000;

/** Checks the options and gives each method call its bounds. */
export function createSession({ key, token, baseUrl, timeoutMs, fetch: given }: RouterOptions): Session {
  if ((key === undefined) === (token === undefined)) throw new TypeError('Pass either a key or a token.');
  if (baseUrl === undefined || !/^https?:\/\//i.test(baseUrl))
    throw new TypeError('baseUrl must start with https:// or http://.');
  const shared = {
    baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ''),
    credential: (key === undefined ? { authorization: `Bearer ${token}` } : { 'x-api-key': key }) as Record<
      string,
      string
    >,
    fetch: given ?? ((...request: Parameters<typeof fetch>) => fetch(...request)),
  };

  function bounds({ signal, timeoutMs: ofCall }: CallOptions, facts: CallFacts = {}): BoundedCall {
    const limit = timeLimit(ofCall ?? timeoutMs ?? defaultTimeoutMs, signal);
    let last: RouterError | undefined;
    return {
      connection: { ...shared, tried: (failure) => (last = failure) },
      signal: limit.signal,
      end: limit.end,
      explained: (error) =>
        limit.hasPassed() && error === limit.signal.reason
          ? new RouterError('deadline_exceeded', 'The call reached its time limit.', {
              ...facts,
              cause: last?.cause ?? last,
            })
          : error,
    };
  }

  return {
    bounds,
    sdk: (path) => ({
      baseURL: `${shared.baseUrl}${path}`,
      apiKey: 'in-the-headers',
      fetch: async (input, init) => {
        const headers = new Headers(init?.headers);
        for (const name of ['authorization', 'x-api-key', 'x-goog-api-key']) headers.delete(name);
        for (const [name, value] of Object.entries(shared.credential)) headers.set(name, value);
        return shared.fetch(input, { ...init, headers });
      },
    }),
    async bounded(options, act, facts) {
      const call = bounds(options, facts);
      try {
        return await act(call);
      } catch (error) {
        throw call.explained(error);
      } finally {
        call.end();
      }
    },
  };
}
