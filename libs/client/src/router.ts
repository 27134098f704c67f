import { type Answer, call, type Connection, parsed, type Request } from './calls.js';
import { follow, statusOf } from './follow.js';
import { isJson } from './media-type.js';
import type { FileInput, InputOf, ModelId, OutputOf } from './models.js';
import { idsOf, RouterError } from './router-error.js';
import { timeLimit } from './time-limit.js';
import { uploaded, withFilesUploaded } from './uploads.js';
import type { CancelAnswer, ModelEntry, ModelPage, RunHandle, RunStatus } from './wire.js';

export interface RouterOptions {
  /** An API key. Keep it secret: in a browser, use a short-lived `token` or go through your own server. */
  key?: string;
  /** An access token. */
  token?: string;
  /** For example `https://router.example.com`. */
  baseUrl: string;
  /** Time limit of each method call, including retries and waiting. Defaults to 15 minutes. */
  timeoutMs?: number;
  /** Replaces the global `fetch`, for example to use a proxy. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the wait, not the run. To end the run, use `cancel`. */
  signal?: AbortSignal;
  timeoutMs?: number;
}

export interface RunOptions extends CallOptions {
  /**
   * Identifies the run for 24 hours: the same input with the same key collects it instead of starting another one.
   * Generated for each call by default. Pass your own to avoid paying twice even if your program crashes.
   */
  idempotencyKey?: string;
}

export interface SubmitOptions extends RunOptions {
  /** Called when the run completes; see `verifyWebhook`. */
  webhookUrl?: string;
}

export interface RunResult<Output> {
  output: Output;
  /** The output exactly as received, which preserves numbers beyond 2^53 and the order of members. */
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  /** The billed cost in US cents. */
  costCents: number | undefined;
  /** Identifies the run in the router's records. */
  runId: string | undefined;
  /** Identifies the HTTP call that returned the result. */
  callId: string | undefined;
}

const defaultTimeoutMs = 900_000;

/** Creates a client for a model router. */
export function createRouter({ key, token, baseUrl, timeoutMs, fetch: given }: RouterOptions) {
  if ((key === undefined) === (token === undefined)) throw new TypeError('Pass either a key or a token.');
  if (!/^https?:\/\//i.test(baseUrl)) throw new TypeError('baseUrl must start with https:// or http://.');
  const connection: Connection = {
    baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ''),
    credential: key === undefined ? { authorization: `Bearer ${token}` } : { 'x-api-key': key },
    fetch: given ?? ((...request) => fetch(...request)),
  };

  /** The caller's signal, whose reason is thrown unchanged, and the time limit, which becomes a `RouterError`. */
  function bounds({ signal, timeoutMs: ofCall }: CallOptions, idempotencyKey?: string) {
    const limit = timeLimit(ofCall ?? timeoutMs ?? defaultTimeoutMs, signal);
    const explained = (error: unknown): unknown =>
      limit.hasPassed() && error === limit.signal.reason
        ? new RouterError('deadline_exceeded', 'The call reached its time limit.', { idempotencyKey })
        : error;
    return { ...limit, explained };
  }

  async function bounded<T>(
    options: CallOptions,
    act: (signal: AbortSignal) => Promise<T>,
    idempotencyKey?: string,
  ): Promise<T> {
    const { signal, explained, end } = bounds(options, idempotencyKey);
    try {
      return await act(signal);
    } catch (error) {
      throw explained(error);
    } finally {
      end();
    }
  }

  /** Files are uploaded first, so that every attempt sends the same bytes. */
  async function requested(
    path: string,
    input: unknown,
    options: RunOptions,
    tryMs?: number,
  ): Promise<Answer> {
    const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
    return bounded(
      options,
      async (signal) => {
        const body = typeof input === 'string' ? input : await withFilesUploaded(connection, input, signal);
        const headers = { 'content-type': 'application/json' };
        const request: Request = { method: 'POST', url: path, headers, body, idempotencyKey };
        return call(connection, tryMs === undefined ? request : { ...request, tryMs }, signal);
      },
      idempotencyKey,
    );
  }

  return {
    /** Runs a model and waits for its result on one connection. A string as the input is sent unchanged. */
    async run<Id extends ModelId>(
      model: Id,
      input: InputOf<Id> | string,
      options: RunOptions = {},
    ): Promise<RunResult<OutputOf<Id>>> {
      return resultOf(await requested(`/v2/models/${model}`, input, options, maxHeldMs));
    },

    /** Queues a run and returns its `request_id` and URLs, which are all that the other methods need. */
    async submit<Id extends ModelId>(
      model: Id,
      input: InputOf<Id> | string,
      options: SubmitOptions = {},
    ): Promise<RunStatus<OutputOf<Id>>> {
      const { webhookUrl } = options;
      const query = webhookUrl === undefined ? '' : `?webhook_url=${encodeURIComponent(webhookUrl)}`;
      const { bytes } = await requested(`/v2/models/${model}/requests${query}`, input, options);
      return parsed(bytes) as RunStatus<OutputOf<Id>>;
    },

    status(run: RunHandle, options: CallOptions = {}): Promise<RunStatus> {
      return bounded(options, (signal) => statusOf(connection, run, signal));
    },

    /** Yields every change of the run's state until it completes. */
    async *subscribe(run: RunHandle, options: CallOptions = {}): AsyncGenerator<RunStatus> {
      const { signal, explained, end } = bounds(options);
      try {
        yield* follow(connection, run, signal);
      } catch (error) {
        throw explained(error);
      } finally {
        end();
      }
    },

    /** Waits for the run's result. Throws the run's error if it failed or was cancelled. */
    collect<Output = unknown>(run: RunHandle<Output>, options: CallOptions = {}): Promise<RunResult<Output>> {
      return bounded(options, async (signal) => {
        const isOutcome = async ({ status, bucket }: RouterError) =>
          status !== 0 && (await statusOf(connection, run, signal)).error_type === bucket;
        const request = { method: 'GET', url: run.response_url, tryMs: maxHeldMs, isOutcome } as const;
        let answer = await call(connection, request, signal);
        while (answer.status === 202) {
          for await (const _state of follow(connection, run, signal));
          answer = await call(connection, request, signal);
        }
        return resultOf(answer);
      });
    },

    cancel(run: RunHandle, options: CallOptions = {}): Promise<CancelAnswer> {
      return bounded(options, async (signal) => {
        const { bytes } = await call(connection, { method: 'PUT', url: run.cancel_url }, signal);
        return parsed(bytes) as CancelAnswer;
      });
    },

    /** Uploads a file and returns its URL for use in inputs. `run` and `submit` upload files in the input themselves. */
    upload(file: FileInput, options: CallOptions = {}): Promise<string> {
      return bounded(options, (signal) => uploaded(connection, file, signal));
    },

    /** Yields every model that you can run. */
    async *models(options: CallOptions = {}): AsyncGenerator<ModelEntry> {
      let page: ModelPage | undefined;
      do {
        const cursor =
          page?.next_cursor === undefined ? '' : `&cursor=${encodeURIComponent(page.next_cursor)}`;
        const url = `/v2/models?limit=100${cursor}`;
        const read = (signal: AbortSignal) => call(connection, { method: 'GET', url }, signal);
        page = parsed((await bounded(options, read)).bytes) as ModelPage;
        yield* page.data;
      } while (page.has_more);
    },
  };
}

export type Router = ReturnType<typeof createRouter>;

/** The router holds a synchronous run for 10 minutes by default; this leaves room for a longer setting. */
const maxHeldMs = 3_600_000;

function resultOf<Output>({ headers, bytes }: Answer): RunResult<Output> {
  const contentType = headers.get('content-type') ?? '';
  const cost = headers.get('x-service-cost-cents');
  const { runId, callId } = idsOf(headers);
  return {
    output: (isJson(contentType) ? parsed(bytes) : new Blob([bytes], { type: contentType })) as Output,
    bytes,
    contentType,
    costCents: cost === null ? undefined : Number(cost),
    runId,
    callId,
  };
}
