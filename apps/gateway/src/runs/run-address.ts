import type { Catalog } from '#catalog';
import { RouterError } from '#errors';
import type { AgedOut } from '#persistence';
import { routerQueueRequestId } from '#schemas';
import type { Caller } from '../auth/caller.js';
import { areSegments, modelNotFound } from '../models/find-model.js';

export interface RunSegments {
  provider: string;
  model: string;
  requestId: string;
}

/** What the path names; throws for segments that can name nothing. Whether the run exists is asked later. */
export function runAddress(
  { provider, model, requestId }: RunSegments,
  caller: Caller,
  catalog: Catalog,
): { modelId: string; runId: string } {
  const modelId = `${provider}/${model}`;
  if (!areSegments(provider, model)) throw modelNotFound(catalog, caller, modelId);
  if (!routerQueueRequestId.safeParse(requestId).success) throw runNotFound();
  return { modelId, runId: requestId };
}

/** What was found of a run; throws the answer about one that is unknown, or that is no more than remembered. */
export function foundRun<Found>(found: Found | AgedOut | null): Found {
  if (found === null) throw runNotFound();
  if (found === 'aged_out') throw agedOut();
  return found;
}

const agedOut = (): RouterError =>
  new RouterError('invalid_input', 'The result has aged out and can no longer be collected.', {
    status: 410,
  });

/** One answer for an unknown id, another workspace's, and a right one under a wrong model. */
const runNotFound = (): RouterError =>
  new RouterError('invalid_input', 'There is no such request.', { status: 404 });
