import { accountMethods, allPages } from './account.js';
import { type Answer, call, parsed, type Request } from './calls.js';
import { follow, statusOf } from './follow.js';
import { isJson } from './media-type.js';
import { modelPath } from './model-path.js';
import type { AcceptedId, FileInput, InputOf, ModelId, OutputOf } from './models.js';
import { idsOf, type RouterError, type UnknownFields, unknownFieldsOf } from './router-error.js';
import { type InputOptions, labelHeaders, type RunOptions } from './run-options.js';
import { type BoundedCall, type CallOptions, createSession, type RouterOptions } from './session.js';
import { type StreamOptions, streamedOutput } from './stream.js';
import { inputText, uploadedFile } from './uploads.js';
import type { CancelAnswer, CostEstimate, Modality, ModelEntry, RunHandle, RunStatus } from './wire.js';

export interface SubmitOptions extends RunOptions {
  /** Called when the run completes; see `verifyWebhook`. */
  webhookUrl?: string;
}

export interface SubscribeOptions extends SubmitOptions {
  /** Called with each new state of the run, first with that of its submission. */
  onStatus?: (status: RunStatus) => void;
  /** Called with a share from 0 to 1 whenever it changes, if the provider reports progress. */
  onProgress?: (progress: number) => void;
}

export interface ModelsFilter extends CallOptions {
  /** Words in the id, title or description. */
  search?: string;
  provider?: string;
  /** The kind of output. */
  modality?: Modality;
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
  /** Empty if the result was only collected. */
  unknownFields: UnknownFields;
}

/** Creates a client for a model router. */
export function createRouter(options: RouterOptions) {
  const session = createSession(options);
  const { bounds, bounded } = session;

  async function* states(run: RunHandle, options: CallOptions): AsyncGenerator<RunStatus> {
    const { connection, signal, explained, end } = bounds(options, { runId: run.request_id });
    try {
      yield* follow(connection, run, signal);
    } catch (error) {
      throw explained(error);
    } finally {
      end();
    }
  }

  async function finished<Output>(
    model: string,
    input: unknown,
    { onStatus, onProgress, ...rest }: SubscribeOptions,
  ): Promise<RunResult<Output>> {
    const facts: { idempotencyKey: string; runId?: string } = { idempotencyKey: keyOf(rest) };
    return bounded(
      rest,
      async (bound) => {
        const submission = await submitted(bound, model, input, { ...rest, ...facts });
        const run = parsed(submission.bytes) as RunStatus<Output>;
        facts.runId = run.request_id;
        let [known, progress] = ['', -1];
        const told = ({ progress: share, ...state }: RunStatus) => {
          if (JSON.stringify(state) !== known) onStatus?.(state);
          known = JSON.stringify(state);
          if (share !== undefined && share !== progress) onProgress?.((progress = share));
        };
        told(run);
        for await (const state of follow(bound.connection, run, bound.signal)) told(state);
        return { ...(await collected(bound, run)), unknownFields: unknownFieldsOf(submission.headers) };
      },
      facts,
    );
  }

  /** Yields every change of a submitted run's state until it completes. */
  function subscribe(run: RunHandle, options?: CallOptions): AsyncGenerator<RunStatus>;
  /**
   * Runs a model through the queue and waits for its result: submits, follows and collects. An error carries the
   * `runId` once the run is submitted.
   */
  function subscribe<Id extends ModelId>(
    model: AcceptedId<Id>,
    input: InputOf<Id> | string,
    options?: SubscribeOptions,
  ): Promise<RunResult<OutputOf<Id>>>;
  function subscribe(first: RunHandle | string, second: unknown, options: SubscribeOptions = {}): unknown {
    return typeof first === 'string'
      ? finished(first, second, options)
      : states(first, (second as CallOptions | undefined) ?? {});
  }

  return {
    ...accountMethods(session),
    subscribe,

    /** Runs a model and waits for its result on one connection. A string as the input is sent unchanged. */
    async run<Id extends ModelId>(
      model: AcceptedId<Id>,
      input: InputOf<Id> | string,
      options: RunOptions = {},
    ): Promise<RunResult<OutputOf<Id>>> {
      const idempotencyKey = keyOf(options);
      const facts = { ...options, idempotencyKey, tryMs: maxHeldMs };
      return bounded(
        options,
        async (bound) => resultOf(await posted(bound, modelPath(model), input, facts)),
        { idempotencyKey },
      );
    },

    /**
     * Runs a model that streams, and yields the provider's own events as they arrive. An object as the input gets
     * `stream: true`, except Gemini's, which has `contents`. If the model answers whole, yields one event with its output.
     *
     * Leaving the loop ends the request. It also cancels the run, unless you passed an `idempotencyKey`: then the run
     * continues, and the same call with the same key streams it again.
     */
    stream<Id extends ModelId>(
      model: AcceptedId<Id>,
      input: InputOf<Id> | string,
      options: StreamOptions = {},
    ) {
      return streamedOutput(session, model, input, options);
    },

    /** Queues a run and returns its `request_id` and URLs, which are all that the other methods need. */
    async submit<Id extends ModelId>(
      model: AcceptedId<Id>,
      input: InputOf<Id> | string,
      options: SubmitOptions = {},
    ): Promise<RunStatus<OutputOf<Id>>> {
      const idempotencyKey = keyOf(options);
      const facts = { ...options, idempotencyKey };
      return bounded(
        options,
        async (bound) =>
          parsed((await submitted(bound, model, input, facts)).bytes) as RunStatus<OutputOf<Id>>,
        { idempotencyKey },
      );
    },

    /** Says what a run with this input costs. Runs nothing and costs nothing, but uploads the files in the input. */
    async cost<Id extends ModelId>(
      model: AcceptedId<Id>,
      input: InputOf<Id> | string,
      options: InputOptions = {},
    ): Promise<CostEstimate> {
      return bounded(options, async (bound) => {
        const { extra } = options;
        const { bytes } = await posted(
          bound,
          `${modelPath(model)}/cost`,
          input,
          extra === undefined ? {} : { extra },
        );
        return parsed(bytes) as CostEstimate;
      });
    },

    status(run: RunHandle, options: CallOptions = {}): Promise<RunStatus> {
      return bounded(options, ({ connection, signal }) => statusOf(connection, run, signal));
    },

    /** Waits for the run's result. Throws the run's error if it failed or was cancelled. */
    collect<Output = unknown>(run: RunHandle<Output>, options: CallOptions = {}): Promise<RunResult<Output>> {
      return bounded(options, (bound) => collected(bound, run), { runId: run.request_id });
    },

    cancel(run: RunHandle, options: CallOptions = {}): Promise<CancelAnswer> {
      return bounded(options, async ({ connection, signal }) => {
        const { bytes } = await call(connection, { method: 'PUT', url: run.cancel_url }, signal);
        return parsed(bytes) as CancelAnswer;
      });
    },

    /** Uploads a file and returns its URL for use in inputs. `run` and `submit` upload files in the input themselves. */
    upload(file: FileInput, options: CallOptions = {}): Promise<string> {
      return bounded(
        options,
        async ({ connection, signal }) => (await uploadedFile(connection, file, signal)).url,
      );
    },

    /** The model's OpenAPI document: the schemas of its input and output, an example and the price. */
    document(model: string, options: CallOptions = {}): Promise<Record<string, unknown>> {
      return bounded(options, async ({ connection, signal }) => {
        const url = `${modelPath(model)}/openapi.json`;
        return parsed((await call(connection, { method: 'GET', url }, signal)).bytes) as Record<
          string,
          unknown
        >;
      });
    },

    /**
     * The settings with which the SDK of a vendor calls the router, for `new OpenAI(router.sdk('/openai/v1'))` and the
     * like.
     */
    sdk: session.sdk,

    /** Yields every model that you can run and that the filter does not exclude. */
    models({ search, provider, modality, ...rest }: ModelsFilter = {}): AsyncGenerator<ModelEntry> {
      return allPages(session, '/v2/models', { view: 'full', q: search, provider, modality }, rest);
    },
  };
}

export type Router = ReturnType<typeof createRouter>;

/** The router holds a synchronous run for 10 minutes by default; this leaves room for a longer setting. */
const maxHeldMs = 3_600_000;

const keyOf = ({ idempotencyKey }: RunOptions): string => idempotencyKey ?? crypto.randomUUID();

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
    unknownFields: unknownFieldsOf(headers),
  };
}

/** Files are uploaded first, so that every attempt sends the same bytes. */
async function posted(
  { connection, signal }: BoundedCall,
  path: string,
  input: unknown,
  { extra, tryMs, ...labels }: RunOptions & { tryMs?: number },
): Promise<Answer> {
  const body = await inputText(connection, input, extra, signal);
  const headers = { 'content-type': 'application/json', ...labelHeaders(labels) };
  const request: Request = { method: 'POST', url: path, headers, body };
  const given = {
    ...(labels.idempotencyKey !== undefined && { idempotencyKey: labels.idempotencyKey }),
    ...(tryMs !== undefined && { tryMs }),
  };
  return call(connection, { ...request, ...given }, signal);
}

function submitted(
  bound: BoundedCall,
  model: string,
  input: unknown,
  { webhookUrl, ...rest }: SubmitOptions,
): Promise<Answer> {
  const query = webhookUrl === undefined ? '' : `?webhook_url=${encodeURIComponent(webhookUrl)}`;
  return posted(bound, `${modelPath(model)}/requests${query}`, input, rest);
}

async function collected<Output>(
  { connection, signal }: BoundedCall,
  run: RunHandle<Output>,
): Promise<RunResult<Output>> {
  const isOutcome = async ({ status, bucket }: RouterError) =>
    status !== 0 && (await statusOf(connection, run, signal)).error_type === bucket;
  const request = { method: 'GET', url: run.response_url, tryMs: maxHeldMs, isOutcome } as const;
  let answer = await call(connection, request, signal);
  while (answer.status === 202) {
    for await (const _state of follow(connection, run, signal));
    answer = await call(connection, request, signal);
  }
  return resultOf(answer);
}
