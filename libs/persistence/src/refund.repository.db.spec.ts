import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { RefundRepository } from './refund.repository.js';
import { cancelled, cents, failed, succeeded, testModel } from './testing/runs.js';
import { SpecDatabase } from './testing/spec-database.js';
import { UsageReader } from './usage-reader.js';

const file = await SpecDatabase.create();
const one = file.process();
const other = file.process();
const here = new RefundRepository(one.database);
const there = new RefundRepository(other.database);
const usage = new UsageReader(one.database);

/** A run that was billed 30 cents in a workspace that had 100. */
async function billedRun(balanceMicros: number | null = cents(100)) {
  const { id, name } = await one.workspace({ balanceMicros });
  const runId = await one.run(id, { reservedMicros: cents(30) });
  await one.runTo(runId, succeeded);
  return { id, name, runId };
}

/** Gives a record to another run, so that the books still balance. */
const rename = (table: string, id: string) =>
  one.sql(`UPDATE ${table} SET run_id = $2 WHERE run_id = $1`, [id, v7()]);

const balanceOf = async (id: string) => (await one.workspaces.find(id)).balanceMicros;
const refundsOf = async (id: string) =>
  (await usage.ledger(id, 100)).filter(({ amountMicros }) => amountMicros > 0);
const refused = (reason: string) => ({ kind: 'refused', reason });

describe('a refund', () => {
  it('returns the bill once, whatever the number of concurrent calls', async () => {
    const { id, name, runId } = await billedRun();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, nth) =>
        (nth % 2 === 0 ? here : there).refund(runId, 'broken image', `op-${nth}`),
      ),
    );
    expect(answers.filter((each) => each.kind === 'refunded')).toEqual([
      {
        kind: 'refunded',
        workspaceId: id,
        workspace: name,
        model: testModel,
        amountMicros: cents(30),
        balanceMicros: cents(100),
      },
    ]);
    expect(answers.filter((each) => each.kind === 'refused')).toEqual(Array(19).fill(refused('refunded')));
    expect(await refundsOf(id)).toMatchObject([
      { runId, amountMicros: cents(30), balanceMicros: cents(100), basis: null, note: 'broken image' },
    ]);
    expect(await balanceOf(id)).toBe(cents(100));
    expect(await here.refund(runId, 'again', 'op')).toEqual(refused('refunded'));
    expect(await here.find(id, runId)).toEqual({ at: expect.any(Date), amountMicros: cents(30) });
    const recorded = await one.sql(
      "SELECT action, details FROM operator_action WHERE subject = $1 AND action = 'run.refund'",
      [runId],
    );
    expect(recorded).toEqual([
      {
        action: 'run.refund',
        details: { workspace: name, amount_micros: cents(30), note: 'broken image' },
      },
    ]);
  });

  it('at the same time as bills and changes leaves a balance that the entries add up to', async () => {
    const { id, runId } = await billedRun();
    const later = await Promise.all([1, 2, 3].map(async () => one.run(id, { reservedMicros: cents(7) })));
    await Promise.all([
      ...later.map((each) => one.runTo(each, succeeded)),
      here.refund(runId, 'refund', 'op'),
      other.workspaces.change(id, { addedMicros: cents(5) }, 'op'),
    ]);
    const entries = await usage.ledger(id, 100);
    const sum = entries.reduce((total, { amountMicros }) => total + amountMicros, 0);
    expect(await balanceOf(id)).toBe(cents(100 - 21 + 5));
    expect(cents(100) + sum).toBe(cents(100 - 21 + 5));
    expect(entries[0]?.balanceMicros).toBe(cents(100 - 21 + 5));
  });

  it('keeps unlimited credits unlimited', async () => {
    const { id, runId } = await billedRun(null);
    expect(await here.refund(runId, 'refund', 'op')).toMatchObject({ kind: 'refunded', balanceMicros: null });
    expect(await balanceOf(id)).toBeNull();
    expect(await refundsOf(id)).toMatchObject([{ amountMicros: cents(30), balanceMicros: null }]);
  });

  it('works when the row of the run has aged out', async () => {
    const { id, runId } = await billedRun();
    await one.sql('DELETE FROM run WHERE id = $1', [runId]);
    expect(await here.refund(runId, 'refund', 'op')).toMatchObject({ kind: 'refunded' });
    expect(await balanceOf(id)).toBe(cents(100));
  });

  it('works with the ledger entry alone, and is refused when both records are gone', async () => {
    const { id, runId } = await billedRun();
    const forgotten = await billedRun();
    await rename('audit_record', runId);
    await rename('audit_record', forgotten.runId);
    await rename('ledger_entry', forgotten.runId);
    expect(await here.refund(runId, 'refund', 'op')).toMatchObject({ model: testModel });
    expect(await balanceOf(id)).toBe(cents(100));
    expect(await here.refund(runId, 'refund', 'op')).toEqual(refused('refunded'));
    expect(await here.refund(forgotten.runId, 'refund', 'op')).toEqual(refused('unknown'));
  });

  it.each([
    ['failed', failed('provider_error')],
    ['was cancelled', cancelled],
  ])('of a run that %s and was not billed is refused', async (_what, ending) => {
    const { id } = await one.workspace({ balanceMicros: cents(100) });
    const runId = await one.run(id, { reservedMicros: cents(30) });
    await one.runTo(runId, ending);
    expect(await here.refund(runId, 'refund', 'op')).toEqual(refused('not_billed'));
    expect([await balanceOf(id), await refundsOf(id)]).toEqual([cents(100), []]);
  });

  it('of a live, parked or unknown run, or in a deleted workspace, is refused', async () => {
    const { id } = await one.workspace({ inflightLimit: 1 });
    const running = await one.run(id);
    const parked = await one.run(id);
    expect(await here.refund(running, 'refund', 'op')).toEqual(refused('live'));
    expect(await here.refund(parked, 'refund', 'op')).toEqual(refused('live'));
    expect(await here.refund(v7(), 'refund', 'op')).toEqual(refused('unknown'));
    expect(await here.refund('00000000-0000-0000-0000-000000000000', 'refund', 'op')).toEqual(
      refused('unknown'),
    );
    expect(await here.refund('ffffffff-ffff-ffff-ffff-ffffffffffff', 'refund', 'op')).toEqual(
      refused('unknown'),
    );
    expect(await here.refund('no id', 'refund', 'op')).toEqual(refused('unknown'));
    const gone = await billedRun();
    expect(await one.workspaces.delete(gone.id, 'op')).toBe(true);
    expect(await here.refund(gone.runId, 'refund', 'op')).toEqual(refused('deleted_workspace'));
  });
});
