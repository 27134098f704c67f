import { describe, expect, it } from '@jest/globals';
import { holdToInvariants, least, System } from '../harness/faults.js';
import { failOnLeftovers, type TransportKind, waitFor } from '../harness/index.js';
import { death, onEveryTransport } from './worker-faults.js';

const boundMs = 20_000;

/** Milliseconds from the kill to the submission by the worker that took over. */
async function redelivery(transport: TransportKind): Promise<number> {
  const system = await System.start({ transport, workers: 0 });
  try {
    const caller = await system.caller();
    const doomed = await system.startWorker({ FAILPOINT: 'dispatch.afterClaim:kill' });
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"redelivered"}');
    await death(system, doomed);
    const killedAtMs = Date.now();
    await system.startWorker();
    const ledger = await waitFor(
      async () => {
        const entries = await system.provider.ledger();
        return entries.length > 0 && entries;
      },
      { withinMs: boundMs + 20_000, what: 'the submission', everyMs: 100 },
    );
    await caller.completed(run);
    expect((await caller.collect(run)).status).toBe(200);
    await holdToInvariants(system);
    expect(await system.provider.ledger()).toHaveLength(1);
    return (ledger[0]?.atMs ?? Infinity) - killedAtMs;
  } finally {
    await system.stop();
  }
}

describe('kill -9 between claim and submission, with default settings', () => {
  it('the run is submitted once, by another worker, within 20 s on every transport', async () => {
    // In parallel, because nearly all of the time is spent waiting for the lease to lapse.
    const tookMs = await onEveryTransport((transport) => least(boundMs, () => redelivery(transport)));
    for (const each of tookMs) expect(each).toBeLessThanOrEqual(boundMs);
    process.stdout.write(`redelivered after ${tookMs.map((each) => `${each} ms`).join(' and ')}\n`);
  });
});

failOnLeftovers();
