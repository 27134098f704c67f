import { type Connection, prepared, send } from './calls.js';
import { mediaTypeOf } from './media-type.js';
import { RouterError } from './router-error.js';
import { eventsOf } from './server-sent-events.js';
import { timeLimit } from './time-limit.js';
import type { RunHandle, RunStatus } from './wire.js';

/** The server sends at least a comment every 15 s. A stream that is silent for this long is broken. */
const maxSilenceMs = 45_000;

/**
 * Yields a run's states from the router's stream of server-sent events. Ends when the stream ends, whatever the state.
 * Throws a `RouterError` if the stream is not available, and any other error if it breaks.
 */
export async function* streamedStates(
  connection: Connection,
  run: RunHandle,
  signal: AbortSignal,
): AsyncGenerator<RunStatus> {
  const silence = timeLimit(maxSilenceMs, signal);
  try {
    const { url, headers } = prepared(connection, {
      url: `${run.status_url}/stream`,
      headers: { accept: 'text/event-stream' },
    });
    const response = await send(connection, url, { headers }, silence.signal);
    const isStream = mediaTypeOf(response.headers.get('content-type')) === 'text/event-stream';
    if (!response.ok || !isStream || response.body === null) {
      await response.body?.cancel();
      throw new RouterError('invalid_input', 'The stream is not available.', { status: response.status });
    }
    let state: RunStatus | undefined;
    for await (const { event, data } of eventsOf(response.body, silence.signal, silence.restart)) {
      const payload = JSON.parse(data) as Partial<RunStatus>;
      if (event === 'progress' && state !== undefined)
        state = { ...state, progress: Number(payload.progress) };
      else if (event !== 'progress') state = payload as RunStatus;
      if (state !== undefined) yield state;
    }
  } finally {
    // Also runs if the consumer stops early.
    silence.end();
  }
}
