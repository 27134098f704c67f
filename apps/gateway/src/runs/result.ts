import { InputRejection, RouterError } from '#errors';
import type { RunResult } from '#persistence';

/** The bytes of a run that succeeded, with their own content type. */
interface Output {
  mediaType: string;
  bytes: Buffer;
}

/** What a finished run answers: its output, or the error that the synchronous route would have answered. */
export function outputOf(result: RunResult): Output {
  switch (result.outcome) {
    case 'succeeded':
      if (result.body === null || result.mediaType === null) throw new Error('a kept run has no output');
      return { mediaType: result.mediaType, bytes: result.body };
    case 'cancelled':
      throw new RouterError('client_disconnected', 'The request was cancelled.', { status: 409 });
    case 'failed':
      throw failureOf(result);
    case null:
      throw new Error('the run is not finished');
  }
}

function failureOf({ bucket, status, failure }: RunResult): RouterError {
  if (failure?.fields !== undefined) return new InputRejection(failure.fields);
  return new RouterError(bucket ?? 'internal_error', failure?.detail ?? 'The request failed.', {
    ...(status !== null && { status }),
    internal: 'the recorded outcome of a run',
  });
}
