import { call, open, type Request } from './calls.js';
import { mediaTypeOf } from './media-type.js';
import { modelPath } from './model-path.js';
import { failureIn, idsOf, RouterError } from './router-error.js';
import { labelHeaders, type RunOptions } from './run-options.js';
import { eventsOf, type ServerSentEvent } from './server-sent-events.js';
import type { Session } from './session.js';
import { chunksOf } from './time-limit.js';
import { inputText } from './uploads.js';

export interface StreamOptions extends RunOptions {
  /**
   * Identifies the run for 24 hours. With a key of your own the run continues if you leave the stream, and the same
   * call with the same key streams it again.
   */
  idempotencyKey?: string | undefined;
}

/** The router waits this long for a run before it answers, with room for a longer setting. */
const maxHeldMs = 3_600_000;
const cancelMs = 10_000;

/** Yields the events of a run, from a request that is retried until its answer begins. */
export async function* streamedOutput(
  session: Session,
  model: string,
  input: unknown,
  options: StreamOptions,
): AsyncGenerator<ServerSentEvent> {
  const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
  const facts: { idempotencyKey: string; runId?: string } = { idempotencyKey };
  const { connection, signal, explained, end } = session.bounds(options, facts);
  let isLeft = true;
  try {
    const isNamed = hasStreamMember(input);
    const extra = isNamed ? { stream: true, ...options.extra } : options.extra;
    const request: Request = {
      method: 'POST',
      url: `${modelPath(model)}${isNamed ? '' : '?alt=sse'}`,
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream, */*',
        ...labelHeaders(options),
      },
      body: await inputText(connection, input, extra, signal),
      idempotencyKey,
      tryMs: maxHeldMs,
    };
    const { response, limit } = await open(connection, request, signal);
    const ids = idsOf(response.headers);
    if (ids.runId !== undefined) facts.runId = ids.runId;
    try {
      for await (const event of outputEvents(response, limit.signal)) {
        const failure = failureIn(event, { idempotencyKey, ...ids });
        if (failure) throw failure;
        yield event;
      }
      isLeft = false;
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof RouterError) throw cause;
      throw new RouterError('service_unavailable', 'The stream broke off.', {
        cause,
        idempotencyKey,
        ...ids,
      });
    } finally {
      limit.end();
    }
  } catch (error) {
    const thrown = explained(error);
    // Such an error carries the key that collects the run.
    isLeft = !(thrown instanceof RouterError);
    throw thrown;
  } finally {
    end();
    // Nobody knows the generated key, so nobody could collect the rest.
    if (isLeft && facts.runId !== undefined && options.idempotencyKey === undefined)
      void cancelled(session, `${modelPath(model)}/requests/${facts.runId}/cancel`);
  }
}

/**
 * Whether a member of the input requests the stream. Gemini's inputs, which have `contents`, have none: the query
 * requests it. A string is sent unchanged, and may be either.
 */
const hasStreamMember = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && !('contents' in input);

async function* outputEvents(response: Response, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
  if (mediaTypeOf(response.headers.get('content-type')) === 'text/event-stream') {
    yield* eventsOf(response.body, signal);
    return;
  }
  const decoder = new TextDecoder();
  let data = '';
  for await (const chunk of chunksOf(response.body, signal)) data += decoder.decode(chunk, { stream: true });
  yield { event: 'message', data, id: undefined };
}

/** Nobody waits for this, and a run that has ended needs no cancellation. */
const cancelled = (session: Session, url: string): Promise<unknown> =>
  session
    .bounded({ timeoutMs: cancelMs }, ({ connection, signal }) =>
      call(connection, { method: 'PUT', url }, signal),
    )
    .catch(() => undefined);
