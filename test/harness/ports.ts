import { freePort as freePortOf } from '../../apps/local/src/ports.js';

const each = 3_000;
// The global set-up, which runs in no worker of Jest's, has the first of the ranges.
const lowest = 10_000 + (Number(process.env['JEST_WORKER_ID'] ?? 0) % 3) * each;

/**
 * A port that was free a moment ago. Each of Jest's workers has ports of its own, so that none takes what another one
 * has been given and not yet bound, nor what an app under test picks for itself.
 */
export const freePort = (): Promise<number> => freePortOf(undefined, { lowest, highest: lowest + each - 1 });
