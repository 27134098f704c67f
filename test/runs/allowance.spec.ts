import { describe, expect, it } from '@jest/globals';
import { failOnLeftovers, newTag, sharedSystem, transports, waitFor } from '../harness/index.js';
import { inflight, passFiveAtOnce, submitUnending } from './busy-workspaces.js';

// What many more runs and a second worker make of it: test/faults/busy-workspaces.spec.ts.
describe.each(transports().slice(0, 1))('allowances of busy workspaces on %s', (transport) => {
  const system = sharedSystem(transport);

  it('never let more than five runs of each be at the partner, which come in the order of admission', () =>
    Promise.all([passFiveAtOnce(system, 30), passFiveAtOnce(system, 30)]));

  it('are taken up at once when they are raised, by parked runs too: exactly eight', async () => {
    const caller = await inflight(system, 5);
    const tag = newTag('raised');
    const runs = 20;
    await submitUnending(caller, tag, runs);
    const generating = (live: number) =>
      waitFor(async () => (await system.partner.peaks(tag)).live === live, {
        withinMs: 60_000,
        what: `${live} runs at the partner`,
      });
    await generating(5);
    expect((await system.partner.peaks(tag)).peak).toBe(5);
    await system.operate((workspaces) => workspaces.change(caller.workspace, { inflightLimit: 8 }, 'test'));
    await generating(8);
    const submitted = async () => {
      await system.partner.finish(tag);
      return (await system.partner.peaks(tag)).accepted === runs;
    };
    await waitFor(submitted, { withinMs: 60_000, what: 'all runs to be submitted', everyMs: 200 });
    await system.partner.finish(tag);
    await system.ended(caller);
    expect(await system.partner.peaks(tag)).toMatchObject({ accepted: runs, peak: 8 });
  });
});

failOnLeftovers();
