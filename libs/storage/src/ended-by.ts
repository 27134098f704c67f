import { addAbortSignal, type Readable } from 'node:stream';

/**
 * The stream, destroyed when the signal aborts. That may happen before anybody reads it, and an error without a
 * listener would end the process; a reader gets the error all the same.
 */
export const endedBy = (signal: AbortSignal, stream: Readable): Readable =>
  addAbortSignal(
    signal,
    stream.on('error', () => {}),
  );
