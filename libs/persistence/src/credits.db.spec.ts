import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import type { Ending } from './run-facts.js';
import { cancelled, cents, failed, succeeded, TestProcess, testModel } from './testing/runs.js';
import { SpecDatabase } from './testing/spec-database.js';
import { type LedgerLine, UsageReader } from './usage-reader.js';

const file = await SpecDatabase.create();
const one = file.process();
const other = file.process();
const usage = new UsageReader(one.database);

const ledgerOf = async (workspaceId: string): Promise<Omit<LedgerLine, 'id' | 'at'>[]> =>
  (await usage.ledger(workspaceId, 1_000)).map(({ id: _id, at: _at, ...line }) => line).toReversed();

const auditOf = (workspaceId: string) => usage.latest({ workspaceId }, 1_000);

/** The state after an outcome bills this much of a reservation of 30 cents. */
const settled = (billedCents: number) => ({
  inflight: 0,
  committedMicros: 0,
  heldMicros: 0,
  backlog: 0,
  balanceMicros: cents(100 - billedCents),
});

describe('credits', () => {
  it('are held but not spent from the admission on, parked or ready', async () => {
    const { id } = await one.workspace({ balanceMicros: cents(100), inflightLimit: 1 });
    await one.run(id, { reservedMicros: cents(30) });
    await one.run(id, { reservedMicros: cents(40) });
    expect(await one.counters(id)).toMatchObject({
      balanceMicros: cents(100),
      heldMicros: cents(70),
      committedMicros: cents(30),
    });
    expect(await one.admit(id, { reservedMicros: cents(31) })).toMatchObject({ limit: 'credits' });
    expect(await ledgerOf(id)).toEqual([]);
    expect(await auditOf(id)).toEqual([]);
  });

  it.each<[string, Ending, number]>([
    ['spent by a success', succeeded, 30],
    ['spent by a failure that the provider charges', failed('content_policy_violation', true), 30],
    ['released by a failure', failed('provider_error'), 0],
    ['released by a cancellation', cancelled, 0],
  ])('are %s, once', async (_what, ending, billed) => {
    const { id } = await one.workspace({ balanceMicros: cents(100) });
    const requestId = v7();
    const runId = await one.run(id, { reservedMicros: cents(30), requestId });
    const epoch = await one.take(runId, 'running');
    const finished = await Promise.all(
      [one, other, one, other].map((each) => each.finish(runId, epoch, ending)),
    );
    expect(finished.filter(({ won }) => won)).toMatchObject([{ record: { billedMicros: cents(billed) } }]);
    expect(await one.counters(id)).toMatchObject(settled(billed));
    const entry = {
      runId,
      amountMicros: -cents(billed),
      balanceMicros: cents(100 - billed),
      basis: 'flat',
      note: testModel,
    };
    expect(await ledgerOf(id)).toEqual(billed > 0 ? [entry] : []);
    expect(await auditOf(id)).toEqual([
      expect.objectContaining({
        requestId,
        runId,
        credential: 'token:tester',
        model: testModel,
        route: 'POST /tested',
        outcome: ending.outcome,
        callerLeft: false,
        costMicros: cents(30),
        billedMicros: cents(billed),
      }),
    ]);
  });

  it('held by a parked run are released when it is cancelled, and it never took a slot', async () => {
    const { id } = await one.workspace({ balanceMicros: cents(100), inflightLimit: 0 });
    const runId = await one.run(id, { reservedMicros: cents(30) });
    await one.runs.requestCancel(id, testModel, runId);
    expect(await one.counters(id)).toMatchObject({ ...settled(0), inflightPeak: 0 });
    expect(await one.admit(id, { reservedMicros: cents(100) })).toMatchObject({ kind: 'admitted' });
  });

  it('stay unlimited, and the ledger still records what was billed', async () => {
    const { id } = await one.workspace({ balanceMicros: null });
    const runId = await one.run(id, { reservedMicros: cents(30) });
    await one.runTo(runId, succeeded);
    expect(await one.counters(id)).toMatchObject({ balanceMicros: null, heldMicros: 0 });
    expect(await ledgerOf(id)).toEqual([
      { runId, amountMicros: -cents(30), balanceMicros: null, basis: 'flat', note: testModel },
    ]);
  });

  it('are not touched by a free run, which leaves an audit record and no ledger entry', async () => {
    const { id } = await one.workspace({ balanceMicros: 0 });
    await one.runTo(await one.run(id, { reservedMicros: 0 }), succeeded);
    expect(await ledgerOf(id)).toEqual([]);
    expect(await auditOf(id)).toMatchObject([{ outcome: 'succeeded', billedMicros: 0 }]);
  });

  it('are never spent twice: concurrent admissions and outcomes never take the balance below zero', async () => {
    const { id } = await one.workspace({ balanceMicros: cents(100), inflightLimit: 4 });
    const endings = [succeeded, cancelled, failed('content_policy_violation', true)];
    const live = async (process: TestProcess, index: number) => {
      const answer = await process.admit(id, { mode: 'sync', reservedMicros: cents((index % 7) + 1) });
      if (answer.kind !== 'admitted') return answer.kind;
      await process.finish(answer.runId, 0, endings[index % 3] ?? cancelled);
      return 'admitted';
    };
    const kinds: string[] = [];
    for (let round = 0; round < 1_000 && (await one.counters(id)).balanceMicros !== 0; round += 1) {
      const crowd = Array.from({ length: 20 }, (_each, index) =>
        live(index % 2 ? one : other, index + round),
      );
      kinds.push(...(await Promise.all(crowd)));
    }
    expect(new Set(kinds)).toEqual(new Set(['admitted', 'refused']));
    expect(await one.counters(id)).toMatchObject({ balanceMicros: 0, heldMicros: 0, inflight: 0 });
    const lines = await ledgerOf(id);
    let balanceMicros = cents(100);
    for (const line of lines) {
      balanceMicros += line.amountMicros;
      expect(line.balanceMicros).toBe(balanceMicros);
      expect(balanceMicros).toBeGreaterThanOrEqual(0);
    }
    expect(balanceMicros).toBe(0);
    const audit = await auditOf(id);
    expect(audit.reduce((sum, { billedMicros }) => sum + billedMicros, 0)).toBe(cents(100));
    expect(audit).toHaveLength(kinds.filter((kind) => kind === 'admitted').length);
  });
});

describe('an operator’s change of credits', () => {
  it('is a ledger entry, and the sum of the entries stays the balance', async () => {
    const { id, name } = await one.workspace({ balanceMicros: null });
    const workspaces = one.workspaces;
    await workspaces.change(name, { addedMicros: cents(50), note: 'first' }, 'test');
    await one.runTo(await one.run(id, { reservedMicros: cents(20) }), succeeded);
    await workspaces.change(name, { balanceMicros: cents(10), note: 'set' }, 'test');
    await workspaces.change(name, { addedMicros: -cents(4), note: 'taken back' }, 'test');
    await workspaces.change(name, { balanceMicros: null, note: 'unlimited' }, 'test');
    const lines = await ledgerOf(id);
    expect(lines.map(({ amountMicros, balanceMicros, note }) => [amountMicros, balanceMicros, note])).toEqual(
      [
        [cents(50), cents(50), 'first'],
        [-cents(20), cents(30), testModel],
        [-cents(20), cents(10), 'set'],
        [-cents(4), cents(6), 'taken back'],
        [-cents(6), null, 'unlimited'],
      ],
    );
  });

  it('leaves no entry if it changes nothing', async () => {
    const { id, name } = await one.workspace({ balanceMicros: null });
    const workspaces = one.workspaces;
    for (const balanceMicros of [null, 0, 0, cents(10), cents(10), null, null])
      await workspaces.change(name, { balanceMicros, note: 'set' }, 'test');
    expect(
      (await ledgerOf(id)).map(({ amountMicros, balanceMicros }) => [amountMicros, balanceMicros]),
    ).toEqual([
      [0, 0],
      [cents(10), cents(10)],
      [-cents(10), null],
    ]);
  });

  it('counts at once, and a concurrent outcome does not lose it', async () => {
    const { id, name } = await one.workspace({ balanceMicros: cents(40) });
    const runs = await Promise.all(
      Array.from({ length: 20 }, () => one.run(id, { reservedMicros: cents(2) })),
    );
    const workspaces = other.workspaces;
    await Promise.all([
      ...runs.map((runId) => one.finish(runId, 0, succeeded)),
      ...[5, 7, 11].map((count) =>
        workspaces.change(name, { addedMicros: cents(count), note: 'added' }, 'test'),
      ),
    ]);
    expect(await one.counters(id)).toMatchObject({ balanceMicros: cents(23), heldMicros: 0 });
    const lines = await ledgerOf(id);
    expect(lines.reduce((sum, { amountMicros }) => sum + amountMicros, cents(40))).toBe(cents(23));
    expect(await one.admit(id, { reservedMicros: cents(23) })).toMatchObject({ kind: 'admitted' });
  });

  it('may take back credits held by runs: these are still billed, and only free runs are admitted until the debt is paid', async () => {
    const { id, name } = await one.workspace({ balanceMicros: cents(30) });
    const runId = await one.run(id, { reservedMicros: cents(30) });
    const workspaces = one.workspaces;
    await workspaces.change(name, { addedMicros: -cents(20), note: 'taken back' }, 'test');
    await one.runTo(runId, succeeded);
    expect(await one.counters(id)).toMatchObject({ balanceMicros: -cents(20) });
    expect(await one.admit(id, { reservedMicros: 0 })).toMatchObject({ kind: 'admitted' });
    expect(await one.admit(id, { reservedMicros: 1 })).toMatchObject({ limit: 'credits' });
    await workspaces.change(name, { addedMicros: cents(20) + 1, note: 'paid' }, 'test');
    expect(await one.admit(id, { reservedMicros: 1 })).toMatchObject({ kind: 'admitted' });
  });
});
