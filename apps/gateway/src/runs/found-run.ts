import type { Catalog } from '#catalog';
import { InputRejection, RouterError } from '#errors';
import type { AgedOut, RunOutcome, RunState } from '#persistence';
import { centsFromMicros, routerQueueRequestId } from '#schemas';
import type { Caller } from '../auth/caller.js';
import { runIdHeader } from '../answers/run-of-call.js';
import { areSegments, type ModelSegments, modelNotFound } from '../models/find-model.js';

export interface RunSegments extends ModelSegments {
  requestId: string;
}

/** The ids that the path names. Throws for malformed segments; the run need not exist. */
export function runAddress(
  segments: RunSegments,
  caller: Caller,
  catalog: Catalog,
): { modelId: string; runId: string } {
  const { provider, model, requestId } = segments;
  const name = `${provider}/${model}`;
  if (!areSegments(segments)) throw modelNotFound(catalog, caller, name);
  if (!routerQueueRequestId.safeParse(requestId).success) throw runNotFound();
  return { modelId: catalog.idOf(name), runId: requestId };
}

/** Returns a run that was found. Throws a 404 for an unknown run, and a 410 for one whose result has aged out. */
export function foundRun<Found>(found: Found | AgedOut | null, runId: string): Found {
  if (found === null) throw runNotFound();
  if (found !== 'aged_out') return found;
  throw new RouterError('invalid_input', 'The result has aged out and can no longer be collected.', {
    status: 410,
    headers: { [runIdHeader]: runId },
  });
}

/** The same answer for an unknown id, an id of another workspace, and an id under the wrong model. */
const runNotFound = (): RouterError =>
  new RouterError('invalid_input', 'There is no such request.', { status: 404 });

/** The output of a run that succeeded, with its own content type. */
export type Output = NonNullable<RunOutcome['output']>;

/** The output of a finished run. Throws the error that the synchronous route would have answered. */
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
  const { fields, reply } = failure ?? {};
  if (fields !== undefined) return new InputRejection(fields, [], reply);
  return new RouterError(bucket ?? 'internal_error', failure?.detail ?? 'The request failed.', {
    ...(status !== null && { status }),
    ...(reply && { reply }),
    internal: 'the recorded outcome of a run',
  });
}

/**
 * Headers with the cost of a finished run and its server. The cost has at most four decimals, so it is never written
 * with an exponent.
 */
export const settledHeaders = ({
  billedMicros,
  server,
}: Pick<RunState, 'billedMicros' | 'server'>): Record<string, string> =>
  billedMicros === null
    ? {}
    : {
        'x-service-cost-cents': String(centsFromMicros(billedMicros)),
        ...(server !== null && { 'x-service-model-provider': server }),
      };
