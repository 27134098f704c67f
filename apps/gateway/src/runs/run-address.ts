import type { Catalog } from '#catalog';
import { RouterError } from '#errors';
import type { AgedOut } from '#persistence';
import { routerQueueRequestId } from '#schemas';
import type { Caller } from '../auth/caller.js';
import { areSegments, type ModelSegments, modelNotFound } from '../models/find-model.js';

export interface RunSegments extends ModelSegments {
  requestId: string;
}

/** The run that the path names; throws for segments that can name none. It need not exist. */
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
