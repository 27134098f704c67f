import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  failOnLeftovers,
  holdToInvariants,
  System,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const runs = 200;

describe.each(transports().slice(0, 1))('allowances of two busy workspaces on %s', (transport) => {
  let system: System;
  let first: TestCaller;
  let second: TestCaller;

  beforeAll(async () => {
    system = await System.start({ transport, gateways: 2, workers: 2, takesMs: 400 });
    const limits = { inflightLimit: 5, windowLimit: 10_000, committedLimitMicros: 1_000_000_000 };
    [first, second] = [await system.caller(limits), await system.caller(limits)];
  });
  afterAll(() => system.stop());

  const submitAll = (caller: TestCaller, tag: string, count: number, more = '') =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        caller.submit('bfl/flux-2-pro', JSON.stringify({ prompt: `${index} [[sim:tag=${tag}]]${more}` })),
      ),
    );

  const granted = (workspaceId: string) =>
    system.sql<{ id: string }>(
      `SELECT run.id FROM run WHERE workspace_id = $1 ORDER BY granted_at, dispatched_at`,
      [workspaceId],
    );

  it('never lets more than five of each run at the partner, in the order of admission, and all 400 finish', async () => {
    const order = new Map<string, string[]>();
    await Promise.all([submitAll(first, 'first', runs), submitAll(second, 'second', runs)]);
    for (const caller of [first, second]) {
      const rows = await system.sql<{ run_id: string }>(
        `SELECT run_id FROM delivery WHERE workspace_id = $1 ORDER BY place`,
        [caller.workspaceId],
      );
      order.set(
        caller.workspaceId,
        rows.map((row) => row.run_id),
      );
    }
    await holdToInvariants(system, 120_000);

    for (const [caller, tag] of [
      [first, 'first'],
      [second, 'second'],
    ] as const) {
      const { accepted, peak } = await system.partner.peaks(tag);
      expect({ accepted, peak }).toEqual({ accepted: runs, peak: 5 });
      const waited = order.get(caller.workspaceId) ?? [];
      const starts = (await granted(caller.workspaceId))
        .map((row) => row.id)
        .filter((id) => waited.includes(id));
      // Slots are granted strictly in the order of admission.
      expect(starts.slice(10)).toEqual(waited.slice(10));
      const [row] = await system.sql<{ peak: number; outcomes: number }>(
        `SELECT inflight_peak AS peak, (SELECT count(*)::integer FROM run WHERE workspace_id = workspace.id AND outcome = 'succeeded') AS outcomes
         FROM workspace WHERE id = $1`,
        [caller.workspaceId],
      );
      expect(row).toEqual({ peak: 5, outcomes: runs });
    }
    expect(await system.partner.ledger()).toHaveLength(2 * runs);
  });

  it('takes a raised allowance up at once, on parked runs too: exactly eight', async () => {
    const caller = await system.caller({
      inflightLimit: 5,
      windowLimit: 10_000,
      committedLimitMicros: 1_000_000_000,
    });
    await submitAll(caller, 'raised', 40, unending);
    const generating = async (runs: number) => (await system.partner.peaks('raised')).live === runs;
    await waitFor(() => generating(5), { withinMs: 20_000, what: 'five runs at the partner' });
    expect((await system.partner.peaks('raised')).peak).toBeLessThanOrEqual(5);
    await system.operate((workspaces) => workspaces.setLimits(caller.workspace, { inflightLimit: 8 }));
    await waitFor(() => generating(8), { withinMs: 20_000, what: 'eight runs at the partner' });
    await waitFor(
      async () => {
        await system.partner.finish();
        return (await system.partner.peaks('raised')).accepted === 40;
      },
      { withinMs: 60_000, what: 'all runs to be submitted', everyMs: 200 },
    );
    await system.partner.finish();
    await holdToInvariants(system, 60_000);
    expect(await system.partner.peaks('raised')).toMatchObject({ accepted: 40, peak: 8 });
  });
});

failOnLeftovers();
