import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { System } from '../harness/faults.js';
import { failOnLeftovers, newTag, transports, unending, waitFor } from '../harness/index.js';

describe.each(transports())('a cancellation that is requested repeatedly, on %s', (transport) => {
  let system: System;
  beforeAll(async () => {
    system = await System.start({ transport });
  });
  afterAll(() => system.stop());

  it('brings one poll forward, not one per request', async () => {
    const caller = await system.caller();
    const tag = newTag('impatient');
    const run = await caller.submit('bfl/flux-2-pro', `{"prompt":"${unending} [[sim:tag=${tag}]]"}`);
    const polls = async () => (await system.provider.ledger(tag))[0]?.pollCount ?? 0;
    await waitFor(async () => (await polls()) > 0, { withinMs: 30_000, what: 'the run to be polled' });
    const [before, beganMs] = [await polls(), performance.now()];
    for (let nth = 1; nth <= 200; nth += 1) {
      const { status, bytes } = await caller.cancel(run);
      if (status === 202) continue;
      const outcome = (await caller.collect(run)).bytes.toString();
      throw new Error(`cancellation ${nth} was answered ${status} ${bytes.toString()}; the run: ${outcome}`);
    }
    const [more, elapsedS] = [(await polls()) - before, (performance.now() - beganMs) / 1000];
    process.stderr.write(`200 cancellations in ${elapsedS.toFixed(1)} s: ${more} polls\n`);
    // A run of this provider is normally polled twice a second.
    expect(more).toBeLessThanOrEqual(3 + elapsedS * 2);
    await system.provider.finish(tag);
    await caller.completed(run);
  });
});

failOnLeftovers();
