import { type Answer, call, type Connection, parsed, type Request } from './calls.js';
import { follow, statusOf } from './follow.js';
import { isJson } from './media-type.js';
import type { FileInput, InputOf, ModelId, OutputOf } from './models.js';
import { RouterError } from './router-error.js';
import { timeLimit } from './time-limit.js';
import { uploaded, withFilesUploaded } from './uploads.js';
import type { CancelAnswer, ModelEntry, ModelPage, RunHandle, RunStatus } from './wire.js';

export interface RouterOptions {
  /** An API key. It is a secret: in a browser use a short-lived `token`, or call a route of your own server. */
  key?: string;
  /** An access token. */
  token?: string;
  /** Such as `https://router.example.com`. */
  baseUrl: string;
  /** Of each method call, retries and waiting included; 15 minutes by default. */
  timeoutMs?: number;
  /** In place of the global one: for a proxy, or a test. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the waiting, not the run: `cancel` does that. */
  signal?: AbortSignal;
  timeoutMs?: number;
}

export interface RunOptions extends CallOptions {
  /**
   * Names the run, for 24 hours: the same input with the same key collects it instead of starting another. Each call
   * makes one of its own; give one where a crash of your program must not pay twice either.
   */
  idempotencyKey?: string;
}

export interface SubmitOptions extends RunOptions {
  /** Is called when the run has completed; see `verifyWebhook`. */
  webhookUrl?: string;
}

export interface RunResult<Output> {
  output: Output;
  /** The output as it came: numbers beyond 2^53 and the order of members are in here. */
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  /** What the run was billed with, in US dollar cents. */
  costCents: number | undefined;
}

const defaultTimeoutMs = 900_000;

/** A client of a model router. */
export function createRouter({ key, token, baseUrl, timeoutMs, fetch: given }: RouterOptions) {
  if ((key === undefined) === (token === undefined)) throw new TypeError('Give a key or a token.');
  if (!/^https?:\/\//i.test(baseUrl))
    throw new TypeError('The baseUrl has to start with https:// or http://.');
  const connection: Connection = {
    baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ''),
    credential: key === undefined ? { authorization: `Bearer ${token}` } : { 'x-api-key': key },
    fetch: given ?? ((...request) => fetch(...request)),
  };

  /** What ends a call: the caller's signal, which keeps its reason, and the time limit, which becomes an error. */
  function bounds({ signal, timeoutMs: ofCall }: CallOptions, idempotencyKey?: string) {
    const limit = timeLimit(ofCall ?? timeoutMs ?? defaultTimeoutMs, signal);
    const explained = (error: unknown): unknown =>
      limit.hasPassed() && error === limit.signal.reason
        ? new RouterError('deadline_exceeded', 'The time limit of the call has passed.', { idempotencyKey })
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

  /** Files are uploaded first, so that every try sends the same bytes. */
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
    /** Runs a model and waits for its result on one connection. A text as the input is sent as it is. */
    async run<Id extends ModelId>(
      model: Id,
      input: InputOf<Id> | string,
      options: RunOptions = {},
    ): Promise<RunResult<OutputOf<Id>>> {
      return resultOf(await requested(`/v2/models/${model}`, input, options, maxHeldMs));
    },

    /** Puts a run into the queue. Nothing is held: its handle is all that the rest takes. */
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

    /** Yields every change of the run's state, and ends when the run has completed. */
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

    /** The result of a run, as soon as it has completed; a run that failed or was cancelled throws its error. */
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

    /** Uploads a file for use in inputs; `run` and `submit` do that with files that they find. */
    upload(file: FileInput, options: CallOptions = {}): Promise<string> {
      return bounded(options, (signal) => uploaded(connection, file, signal));
    },

    /** Every model that may be run. */
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

/** A synchronous run is held by the router for 10 minutes by default. */
const maxHeldMs = 3_600_000;

function resultOf<Output>({ headers, bytes }: Answer): RunResult<Output> {
  const contentType = headers.get('content-type') ?? '';
  const cost = headers.get('x-service-cost-cents');
  return {
    output: (isJson(contentType) ? parsed(bytes) : new Blob([bytes], { type: contentType })) as Output,
    bytes,
    contentType,
    costCents: cost === null ? undefined : Number(cost),
  };
}
