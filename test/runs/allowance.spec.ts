import { describe, expect, it } from '@jest/globals';
import { failOnLeftovers, newTag, sharedSystem, transports, unending, waitFor } from '../harness/index.js';
import { inflight, passFiveAtOnce, submitUnending } from './busy-workspaces.js';

// With many more runs and a second worker: test/faults/busy-workspaces.spec.ts.
describe.each(transports().slice(0, 1))('allowances of busy workspaces on %s', (transport) => {
  const system = sharedSystem(transport);

  it('keep each workspace to five runs at the provider, in the order of admission', () =>
    Promise.all([passFiveAtOnce(system, 30), passFiveAtOnce(system, 30)]));

  it('take effect at once when raised, for parked runs too: exactly eight run', async () => {
    const caller = await inflight(system, 5);
    const tag = newTag('raised');
    const runs = 20;
    await submitUnending(caller, tag, runs);
    const generating = (live: number) =>
      waitFor(async () => (await system.provider.peaks(tag)).live === live, {
        withinMs: 60_000,
        what: `${live} runs at the provider`,
      });
    await generating(5);
    expect((await system.provider.peaks(tag)).peak).toBe(5);
    await system.operate((workspaces) => workspaces.change(caller.workspace, { inflightLimit: 8 }, 'test'));
    await generating(8);
    const submitted = async () => {
      await system.provider.finish(tag);
      return (await system.provider.accepted(tag)) === runs;
    };
    await waitFor(submitted, { withinMs: 60_000, what: 'all runs to be submitted', everyMs: 200 });
    await system.provider.finish(tag);
    await system.ended(caller);
    expect(await system.provider.peaks(tag)).toMatchObject({ accepted: runs, peak: 8 });
  });

  it('end a parked run that could cost more than the lowered limit on committed spend, and start the runs behind it', async () => {
    const caller = await inflight(system, 1);
    const tag = newTag('ahead');
    const ahead = await caller.submit('bfl/flux-2-pro', `{"prompt":"${unending} [[sim:tag=${tag}]]"}`);
    const dear = await caller.submit('bfl/flux-2-pro', '{"prompt":"x","width":2048,"height":2048}');
    const cheap = await caller.submit('bfl/flux-2-pro', '{"prompt":"x","width":256,"height":256}');
    const [row] = await system.sql<{ committedLimitMicros: string }>(
      'SELECT max(reserved_micros) - 1 AS "committedLimitMicros" FROM outbox WHERE run_id IN ($1, $2)',
      [dear.requestId, cheap.requestId],
    );
    await system.operate((workspaces) =>
      workspaces.change(
        caller.workspace,
        { committedLimitMicros: Number(row?.committedLimitMicros) },
        'test',
      ),
    );
    expect(await caller.completed(dear)).toMatchObject({ error_type: 'concurrency_limit_exceeded' });
    const refused = await caller.collect(dear);
    expect([refused.status, refused.bucket]).toEqual([429, 'concurrency_limit_exceeded']);
    await system.provider.finish(tag);
    for (const run of [ahead, cheap]) expect(await caller.completed(run)).not.toHaveProperty('error_type');
    await system.ended(caller);
  });
});

failOnLeftovers();
