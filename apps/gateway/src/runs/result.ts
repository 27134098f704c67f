import { InputRejection, RouterError } from '#errors';
import type { PayloadBody, RunOutcome, RunState } from '#persistence';
import { cents } from './cents.js';

/** The output of a run that succeeded, with its own content type. */
export interface Output {
  mediaType: string;
  body: PayloadBody;
}

/** What was billed for a finished run, with four decimals at most, so that no exponent is written, and who served it. */
export const settledHeaders = ({
  billedMicros,
  server,
}: Pick<RunState, 'billedMicros' | 'server'>): Record<string, string> =>
  billedMicros === null
    ? {}
    : {
        'x-service-cost-cents': String(cents(billedMicros)),
        ...(server !== null && { 'x-service-model-provider': server }),
      };

/** What a finished run answers: its output, or the error that the synchronous route would have answered. */
export function outputOf(result: RunOutcome): Output {
  switch (result.outcome) {
    case 'succeeded':
      if (result.output === null) throw new Error('a kept run has no output');
      return result.output;
    case 'cancelled':
      throw new RouterError('client_disconnected', 'The request was cancelled.', { status: 409 });
    case 'failed':
      throw failureOf(result);
    case null:
      throw new Error('the run is not finished');
  }
}

function failureOf({ bucket, status, failure }: RunOutcome): RouterError {
  if (failure?.fields !== undefined) return new InputRejection(failure.fields);
  return new RouterError(bucket ?? 'internal_error', failure?.detail ?? 'The request failed.', {
    ...(status !== null && { status }),
    internal: 'the recorded outcome of a run',
  });
}
