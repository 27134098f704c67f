import { call } from './client.ts';
import { eventsOf } from './event-stream.ts';
import { mediaTypeOf } from './media-type.ts';
import { Problem } from './problem.ts';
import { TextJoiner, type TextPlaces } from './streamed-text.ts';

interface StreamedCall {
  /** The JSON input. */
  body: string;
  /** With a key, the run continues if the connection breaks or the page is closed. */
  key: string;
  /** The query that requests a stream, if the input does not. */
  query: string | undefined;
  places: TextPlaces;
  signal: AbortSignal;
  /** The run, as soon as the provider has answered; `isStream` unless the provider's answer is whole. */
  onStart: (runId: string, isStream: boolean) => void;
  /** The text so far. */
  onText: (text: string) => void;
}

/**
 * Runs a model with a stream, and resolves at its end. If the connection breaks or the run fails, joins the run once,
 * which throws the `Problem` of a run that failed.
 */
export async function runStreamed(id: string, terms: StreamedCall): Promise<void> {
  try {
    await read(id, terms);
  } catch (error) {
    const isAnswered = error instanceof Problem && error.status > 0;
    if (isAnswered || terms.signal.aborted) throw error;
    await read(id, terms);
  }
}

async function read(id: string, { body, key, query, places, signal, onStart, onText }: StreamedCall) {
  const answer = await call(`/v2/models/${id}${query === undefined ? '' : `?${query}`}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body,
    signal,
  });
  const isStream = mediaTypeOf(answer.headers.get('content-type') ?? '') === 'text/event-stream';
  onStart(answer.headers.get('x-service-run-id') ?? '', isStream);
  if (!isStream) return answer.body?.cancel();
  const joiner = new TextJoiner(places);
  for await (const { event, data } of eventsOf(answer)) {
    if (event === 'error' && data.includes('"error_type":')) throw new Error('the run failed');
    joiner.push(data);
    onText(joiner.text());
  }
}
