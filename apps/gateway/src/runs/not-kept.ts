import { RouterError } from '#errors';
import type { KeepResult } from '#persistence';
import { runIdHeader } from '../answers/run-of-call.js';
import { fileLimitReached } from '../uploads/file-uploads.js';

/** Says why a run is not kept. */
export function notKept(
  {
    result,
    maxAllowed,
  }: Pick<KeepResult, 'maxAllowed'> & { result: Exclude<KeepResult['result'], 'kept' | 'expired'> },
  runId: string,
): RouterError {
  const headers = { [runIdHeader]: runId };
  if (result === 'files' || result === 'bytes')
    return fileLimitReached({ limit: result, maxAllowed }, { headers });
  const why = {
    live: 'The run has not ended. Keep it when it has.',
    failed: 'The run did not succeed, so there is no result to keep.',
    period: 'The workspace keeps results for a limited time only, so no run can be kept longer.',
  }[result];
  return new RouterError('invalid_input', why, { status: 409, headers });
}
