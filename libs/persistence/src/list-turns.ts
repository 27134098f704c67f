import { RouterError } from '#errors';
import { Turns } from '#observability';
import type { DatabaseSettings } from './settings.js';

/** In place of a workspace, for the lists of operators. */
export const operators = 'operators';

const maxWaitingOfOne = 50;

/** Turns of the workspaces whose lists are read. One connection stays free for the node registry. */
export function listTurns(settings: DatabaseSettings): Turns {
  const { DATABASE_REGISTRY_POOL, DATABASE_STATEMENT_MS, DATABASE_ACQUIRE_MS } = settings;
  return new Turns({
    max: Math.max(DATABASE_REGISTRY_POOL - 1, 1),
    maxOfOne: 1,
    maxWaitingOfOne,
    // Long enough for a slow list of another workspace to end. Commands of operators have no limit on statements.
    maxWaitMs: DATABASE_STATEMENT_MS === 0 ? Infinity : DATABASE_STATEMENT_MS + DATABASE_ACQUIRE_MS,
    refusal: () =>
      new RouterError('service_unavailable', 'Too many lists are being read; please retry.', {
        internal: 'the turns of lists are taken',
      }),
  });
}
