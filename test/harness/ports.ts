import { freePort as freePortOf } from '../../apps/local/src/ports.js';

const each = 3_000;
// The global set-up, which runs outside Jest's workers, uses the first range.
const lowest = 10_000 + (Number(process.env['JEST_WORKER_ID'] ?? 0) % 3) * each;

/**
 * A port that was free a moment ago. Each Jest worker has a range of its own, so that it cannot take a port that
 * another worker has picked but not bound yet, nor one that an app under test picks for itself.
 */
export const freePort = (): Promise<number> => freePortOf(undefined, { lowest, highest: lowest + each - 1 });
