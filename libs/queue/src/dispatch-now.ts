import type { Delivery } from './port.js';

/** The deliveries of runs that hold a slot as of now; none for none. */
export const dispatchNow = (runs: readonly { runId: string; provider: string }[]): Delivery[] =>
  runs.map(({ runId, provider }) => ({ lane: 'dispatch', provider, runId, afterMs: 0 }));
