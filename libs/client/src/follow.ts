import { call, type Connection, parsed, pause } from './calls.js';
import { RouterError } from './router-error.js';
import { streamedStates } from './status-stream.js';
import type { RunHandle, RunStatus } from './wire.js';

const minPauseMs = 500;
const maxPauseMs = 5_000;

export async function statusOf(
  connection: Connection,
  run: RunHandle,
  signal: AbortSignal,
): Promise<RunStatus> {
  return parsed((await call(connection, { method: 'GET', url: run.status_url }, signal)).bytes) as RunStatus;
}

/** Yields every change of a run's state until it completes. Streams, and polls while the stream is not available. */
export async function* follow(
  connection: Connection,
  run: RunHandle,
  signal: AbortSignal,
): AsyncGenerator<RunStatus> {
  let last = '';
  let hasStream = true;
  for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
    const states = hasStream ? streamedStates(connection, run, signal) : [];
    try {
      for await (const state of states) {
        pauseMs = minPauseMs;
        if (JSON.stringify(state) !== last) yield state;
        last = JSON.stringify(state);
        if (state.status === 'COMPLETED') return;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RouterError) hasStream = false;
    }
    const state = await statusOf(connection, run, signal);
    if (JSON.stringify(state) !== last) yield state;
    last = JSON.stringify(state);
    if (state.status === 'COMPLETED') return;
    await pause(pauseMs, signal);
  }
}
