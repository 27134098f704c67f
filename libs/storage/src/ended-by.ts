import { addAbortSignal, type Readable } from 'node:stream';

/**
 * The stream, which the signal ends too. It may end before anybody reads it, and a failure that nobody listens to
 * would end the process; whoever reads it is told all the same.
 */
export const endedBy = (signal: AbortSignal, stream: Readable): Readable =>
  addAbortSignal(
    signal,
    stream.on('error', () => {}),
  );
