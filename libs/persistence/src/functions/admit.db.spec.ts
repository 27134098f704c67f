import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { anyWindow } from '../testing/any-window.js';
import { type AdmissionFacts, admissionOf, cancelled, cents, offsetToSecond } from '../testing/runs.js';
import { SpecDatabase } from '../testing/spec-database.js';
import type { WorkspaceLimits } from '../workspace.repository.js';

const file = await SpecDatabase.create();
// The clock is at the start of a minute, so that no minute ends between two admissions.
const gateway = file.process(offsetToSecond(0));

type Settings = WorkspaceLimits & { balanceMicros?: number };

const admitAll = (workspaceId: string, facts: AdmissionFacts[]) =>
  Promise.all(facts.map((each) => gateway.admit(workspaceId, each)));

/** The rows that an admission writes. */
async function rowsOf(workspaceId: string): Promise<unknown> {
  const [row] = await gateway.sql<{ rows: number }>(
    `SELECT ((SELECT count(*) FROM run WHERE workspace_id = $1) + (SELECT count(*) FROM outbox WHERE workspace_id = $1)
       + (SELECT count(*) FROM idempotency_key WHERE workspace_id = $1)
       + (SELECT count(*) FROM payload WHERE run_id IN (SELECT id FROM run WHERE workspace_id = $1)))::integer AS rows`,
    [workspaceId],
  );
  return row?.rows;
}

describe('a refusal', () => {
  const dear = { reservedMicros: cents(30) };
  const sync = { ...dear, mode: 'sync' } as const;

  it.each<[string, string, Settings, AdmissionFacts[], AdmissionFacts]>([
    ['ceiling', 'its cost is above the whole limit', { committedLimitMicros: cents(30) - 1 }, [], sync],
    ['ceiling', 'it would have to wait forever', { committedLimitMicros: cents(30) - 1 }, [], dear],
    ['credits', 'the balance is lower than its cost', { balanceMicros: cents(30) - 1 }, [], sync],
    ['credits', 'the balance is held by a run', { balanceMicros: cents(59) }, [sync], dear],
    [
      'credits',
      'the balance is held by a parked run',
      { balanceMicros: 1, inflightLimit: 0 },
      [{ reservedMicros: 1 }],
      { reservedMicros: 1 },
    ],
    ['window', 'the minute’s runs are there', { windowLimit: 2 }, [sync, dear], dear],
    ['window', 'no runs are allowed', { windowLimit: 0 }, [], sync],
    ['inflight', 'every slot is taken', { inflightLimit: 2 }, [sync, dear], sync],
    ['inflight', 'there are no slots', { inflightLimit: 0 }, [], sync],
    ['spend', 'committed spend leaves no room', { committedLimitMicros: cents(60) - 1 }, [dear], sync],
    ['backlog', 'the line is full', { inflightLimit: 0, backlogLimit: 2 }, [dear, dear], dear],
    ['backlog', 'nothing may be parked', { inflightLimit: 1, backlogLimit: 0 }, [sync], dear],
  ])(
    'for %s, as %s, returns its numbers and leaves nothing behind',
    async (limit, _why, settings, before, refused) => {
      const { id, ...limits } = await gateway.workspace(settings);
      for (const each of before) expect(await gateway.admit(id, each)).toMatchObject({ kind: 'admitted' });
      const [counters, rows] = [await gateway.counters(id), await rowsOf(id)];
      for (const key of [undefined, 'a-key']) {
        expect(await gateway.admit(id, { ...refused, ...(key !== undefined && { key }) })).toEqual({
          kind: 'refused',
          limit,
          inflight: counters.inflight,
          committedMicros: counters.committedMicros,
          inflightLimit: limits.inflightLimit,
          committedLimitMicros: limits.committedLimitMicros,
          backlogLimit: limits.backlogLimit,
          ...anyWindow,
          windowLimit: limits.windowLimit,
          costMicros: refused.reservedMicros,
          boundMicros: refused.reservedMicros,
          balanceMicros: counters.balanceMicros,
          heldMicros: counters.heldMicros,
          excessMicros: 0,
          overdraftLimitMicros: limits.overdraftLimitMicros,
        });
      }
      expect(await gateway.counters(id)).toEqual(counters);
      expect(await rowsOf(id)).toBe(rows);
    },
  );

  it('names one limit, in the order ceiling, credits, window, slots, spend, so that limits which no waiting lifts come first', async () => {
    const named: unknown[] = [];
    const settings = {
      committedLimitMicros: 0,
      balanceMicros: 0,
      windowLimit: 0,
      inflightLimit: 0,
      backlogLimit: 0,
    };
    const { id, name } = await gateway.workspace(settings);
    const workspaces = gateway.workspaces;
    const note = async () => {
      const [queued, held] = await admitAll(id, [dear, sync]);
      named.push([queued, held].map((each) => (each?.kind === 'refused' ? each.limit : each?.kind)));
    };
    await note();
    await workspaces.change(name, { committedLimitMicros: cents(30) }, 'test');
    await note();
    await workspaces.change(name, { balanceMicros: cents(100), note: 'test' }, 'test');
    await note();
    await workspaces.change(name, { windowLimit: 1_000 }, 'test');
    await note();
    await workspaces.change(name, { inflightLimit: 1 }, 'test');
    await gateway.run(id, { mode: 'sync', reservedMicros: cents(10) });
    await workspaces.change(name, { inflightLimit: 2 }, 'test');
    await note();
    expect(named).toEqual([
      ['ceiling', 'ceiling'],
      ['credits', 'credits'],
      ['window', 'window'],
      ['backlog', 'inflight'],
      ['backlog', 'spend'],
    ]);
  });

  it('of one run does not affect the others of its batch', async () => {
    const { id } = await gateway.workspace({ committedLimitMicros: cents(50) });
    const costs = [20, 60, 20, 60, 10, 1].map(
      (count) => ({ mode: 'sync', reservedMicros: cents(count) }) as const,
    );
    const answers = await admitAll(id, costs);
    expect(answers.map((each) => (each.kind === 'refused' ? each.limit : each.kind))).toEqual([
      'admitted',
      'ceiling',
      'admitted',
      'ceiling',
      'admitted',
      'spend',
    ]);
    expect(await gateway.counters(id)).toMatchObject({
      inflight: 3,
      committedMicros: cents(50),
      windowCount: 3,
    });
  });
});

describe('an admitted run', () => {
  it('is ready while a slot and its spend are free, and parked after that, in the order of admission', async () => {
    const { id } = await gateway.workspace({ inflightLimit: 3, committedLimitMicros: cents(10) });
    const costs = [4, 5, 2, 1].map((count) => ({ reservedMicros: cents(count) }));
    const answers = await admitAll(id, costs);
    // The third would exceed the spend. The fourth would fit if it were allowed to overtake.
    expect(answers).toEqual([
      { kind: 'admitted', runId: expect.any(String), ready: true, position: 0, ...anyWindow },
      { kind: 'admitted', runId: expect.any(String), ready: true, position: 1, ...anyWindow },
      { kind: 'admitted', runId: expect.any(String), ready: false, position: 2, ...anyWindow },
      { kind: 'admitted', runId: expect.any(String), ready: false, position: 3, ...anyWindow },
    ]);
    const order = await gateway.sql(
      'SELECT run_id AS "runId", queue FROM outbox WHERE workspace_id = $1 ORDER BY place',
      [id],
    );
    expect(order).toEqual(
      answers.map((each, index) => ({
        runId: 'runId' in each && each.runId,
        queue: index < 2 ? 'dispatch' : 'backlog',
      })),
    );
    expect(await gateway.counters(id)).toMatchObject({
      inflight: 2,
      committedMicros: cents(9),
      heldMicros: cents(12),
      backlog: 2,
      windowCount: 4,
    });
  });

  it('takes the last slot, cent and credit', async () => {
    const settings = {
      inflightLimit: 1,
      committedLimitMicros: cents(5),
      balanceMicros: cents(5),
      windowLimit: 1,
    };
    const { id } = await gateway.workspace({ ...settings, backlogLimit: 0 });
    const admitted = await gateway.admit(id, { reservedMicros: cents(5) });
    expect(admitted).toMatchObject({ kind: 'admitted', ready: true });
  });

  it('counts only undispatched runs as ahead', async () => {
    const { id } = await gateway.workspace({ inflightLimit: 2 });
    const [first] = [await gateway.run(id), await gateway.run(id)];
    expect(await gateway.admit(id)).toMatchObject({ ready: false, position: 2 });
    await gateway.take(first, 'submitting');
    expect(await gateway.admit(id)).toMatchObject({ ready: false, position: 2 });
  });

  it('is never parked if it is synchronous, and does not wait behind parked runs', async () => {
    const { id } = await gateway.workspace({ committedLimitMicros: cents(10) });
    await gateway.run(id, { reservedMicros: cents(6) });
    const parked = await gateway.admit(id, { reservedMicros: cents(5) });
    expect(parked).toMatchObject({ ready: false });
    expect(await gateway.admit(id, { mode: 'sync', reservedMicros: cents(4) })).toMatchObject({
      ready: true,
      position: 2,
    });
    expect(await gateway.counters(id)).toMatchObject({ inflight: 2, backlog: 1, committedMicros: cents(10) });
  });

  it.each([
    ['ready', 'dispatch', 1],
    ['parked', 'backlog', 0],
  ])('is written completely: %s', async (stage, queue, inflightLimit) => {
    const { id } = await gateway.workspace({ inflightLimit });
    const body = Buffer.from('{"prompt":"\\u0000 bytes as they came "}');
    const admission = admissionOf(id, { reservedMicros: cents(7), key: 'whole', body });
    expect(await gateway.admissions.admitRun(admission)).toMatchObject({ kind: 'admitted' });
    const [row] = await gateway.sql(
      `SELECT run.workspace_id AS workspace, run.model, run.provider, mode, stage, epoch, facts, call, queue, dispatched, waiting,
         run.reserved_micros::float AS reserved, outbox.reserved_micros::float AS delivered, body, stored_as,
         granted_at IS NOT NULL AS granted, sent_at, deadline_at, lease_until,
         due_at = 'infinity' AS "neverDue", admitted_at BETWEEN router_now() - interval '1 minute' AND router_now() AS now
       FROM run JOIN outbox ON run_id = id JOIN payload ON payload.run_id = id AND kind = 'input' WHERE id = $1`,
      [admission.runId],
    );
    const { model, provider, mode, facts, call, reservedMicros: reserved } = admission;
    expect(row).toEqual({
      workspace: id,
      model,
      provider,
      mode,
      facts,
      call,
      stage,
      queue,
      body,
      reserved,
      delivered: reserved,
      epoch: 0,
      dispatched: false,
      stored_as: null,
      now: true,
      granted: stage === 'ready',
      waiting: stage === 'ready',
      neverDue: true,
      sent_at: null,
      deadline_at: null,
      lease_until: null,
    });
  });

  it('waits for a worker from its commit on, under its provider', async () => {
    const { id } = await gateway.workspace();
    const provider = 'just-admitted';
    await gateway.run(id, { provider });
    expect(await gateway.dispatch.linesToLookAt()).toContain(provider);
  });

  it('may have an id of another year, from a gateway whose clock is far off', async () => {
    const { id } = await gateway.workspace();
    for (const years of [-2, 2]) {
      const runId = v7({ msecs: Date.now() + years * 31_557_600_000 });
      expect(await gateway.admit(id, { runId })).toMatchObject({ kind: 'admitted', runId });
      expect(await gateway.stageOf(runId)).toBe('ready');
      await gateway.finish(runId, 0, cancelled);
    }
  });
});
