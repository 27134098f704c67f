import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../../../test/harness/wait-for.js';
import type { Granted } from '../run-facts.js';
import { cancelled, cents, holdWorkspace, succeeded, TestProcess, testModel } from '../testing/runs.js';
import { SpecDatabase } from '../testing/spec-database.js';
import type { WorkspaceLimits } from '../workspace.repository.js';

const file = await SpecDatabase.create();
const one = file.process();
const other = file.process();

/** A workspace with runs of these costs in cents, admitted one by one. */
async function line(limits: WorkspaceLimits, ...costs: number[]) {
  const { id, name } = await one.workspace(limits);
  const runs: string[] = [];
  for (const cost of costs) runs.push(await one.run(id, { reservedMicros: cents(cost) }));
  return { id, name, runs, at: (index: number): string => runs[index] ?? '' };
}

const end = async (process: TestProcess, runId: string): Promise<string[]> =>
  ids((await process.finish(runId, 0, cancelled)).granted);

const ids = (granted: readonly Granted[]): string[] => granted.map(({ runId }) => runId);

const setLimits = async (process: TestProcess, name: string, limits: WorkspaceLimits): Promise<string[]> =>
  ids((await process.workspaces.change(name, limits, 'test')).granted);

const stages = (runs: string[]) => Promise.all(runs.map((runId) => one.stageOf(runId)));

const waitingFor = (sessions: number) =>
  waitFor(async () => (await one.waiting()) === sessions, {
    withinMs: 60_000,
    what: `${sessions} sessions to wait`,
  });

describe('parked runs', () => {
  it('get the slots of runs that end, in the order of their admission', async () => {
    const { runs, at } = await line({ inflightLimit: 2 }, 1, 1, 1, 1, 1);
    expect(await stages(runs)).toEqual(['ready', 'ready', 'parked', 'parked', 'parked']);
    const { granted } = await one.runTo(at(1), succeeded);
    expect(granted).toEqual([{ runId: at(2), provider: 'tested' }]);
    expect(await end(other, at(0))).toEqual([at(3)]);
    expect(await end(one, at(3))).toEqual([at(4)]);
    expect(await end(one, at(2))).toEqual([]);
    expect(await stages(runs)).toEqual(['completed', 'completed', 'completed', 'completed', 'ready']);
  });

  it('become ready in every row, for the worker and for the counters', async () => {
    const { id, at } = await line({ inflightLimit: 1 }, 2, 3, 4);
    await end(one, at(0));
    const rows = await one.sql(
      `SELECT stage, queue, waiting, dispatched, granted_at > admitted_at AS granted, due_at = 'infinity' AS "neverDue"
       FROM run JOIN outbox ON run_id = id WHERE run.workspace_id = $1 ORDER BY place`,
      [id],
    );
    expect(rows).toEqual([
      { stage: 'ready', queue: 'dispatch', waiting: true, dispatched: false, granted: true, neverDue: true },
      { stage: 'parked', queue: 'backlog', waiting: false, dispatched: false, granted: null, neverDue: true },
    ]);
    expect(await one.counters(id)).toMatchObject({
      inflight: 1,
      committedMicros: cents(3),
      heldMicros: cents(7),
      backlog: 1,
    });
  });

  it('get as many slots as one outcome makes room for', async () => {
    const { at } = await line({ inflightLimit: 3, committedLimitMicros: cents(10) }, 10, 4, 4, 2, 1);
    expect(await end(one, at(0))).toEqual([at(1), at(2), at(3)]);
  });

  it('wait behind the head of the line until it fits, in slots and in spend', async () => {
    const { at } = await line({ inflightLimit: 3, committedLimitMicros: cents(10) }, 7, 2, 5, 1, 1);
    // A slot is free, and the spend suffices for the fourth but not for the third.
    expect(await end(one, at(1))).toEqual([]);
    expect(await end(one, at(0))).toEqual([at(2), at(3), at(4)]);
  });

  it('leave the line when they are cancelled, and the runs behind them move up', async () => {
    const { id, at } = await line({ inflightLimit: 3, committedLimitMicros: cents(10) }, 7, 5, 3, 1);
    const cancel = await one.runs.requestCancel(id, testModel, at(1));
    expect(cancel).toMatchObject({ found: 'waiting', granted: [{ runId: at(2) }] });
    expect(await end(one, at(0))).toEqual([at(3)]);
  });

  it('get nothing from the outcome of another workspace', async () => {
    const [full, busy] = await Promise.all([
      line({ inflightLimit: 1 }, 1, 1),
      line({ inflightLimit: 1 }, 1, 1),
    ]);
    expect(await end(one, busy.at(0))).toEqual([busy.at(1)]);
    expect(await stages(full.runs)).toEqual(['ready', 'parked']);
  });
});

describe('a changed limit', () => {
  it('grants as many parked runs as now fit, at once', async () => {
    const { name, at } = await line({ inflightLimit: 0 }, 6, 6, 1, 1);
    expect(await setLimits(one, name, { backlogLimit: 5_000, windowLimit: 5_000 })).toEqual([]);
    expect(await setLimits(one, name, { inflightLimit: 3, committedLimitMicros: cents(11) })).toEqual([
      at(0),
    ]);
    expect(await setLimits(one, name, { committedLimitMicros: cents(12) })).toEqual([at(1)]);
    expect(await setLimits(one, name, { committedLimitMicros: cents(14) })).toEqual([at(2)]);
    expect(await setLimits(one, name, { inflightLimit: 4 })).toEqual([at(3)]);
  });

  it('takes no slot away, and grants none until there are fewer runs than it allows', async () => {
    const { id, name, at } = await line({ inflightLimit: 3 }, 1, 1, 1, 1, 1);
    expect(await setLimits(one, name, { inflightLimit: 1 })).toEqual([]);
    expect(await one.counters(id)).toMatchObject({ inflight: 3, backlog: 2 });
    expect(await one.admit(id, { mode: 'sync' })).toMatchObject({
      limit: 'inflight',
      inflight: 3,
      inflightLimit: 1,
    });
    expect(await end(one, at(0))).toEqual([]);
    expect(await end(one, at(1))).toEqual([]);
    expect(await end(one, at(2))).toEqual([at(3)]);
  });

  it('that bypassed the command is applied by the reconciler, in every workspace', async () => {
    const [first, second, closed] = await Promise.all([1, 1, 0].map(() => line({ inflightLimit: 0 }, 1, 1)));
    await one.sql('UPDATE workspace SET inflight_limit = 1 WHERE id = ANY($1)', [[first?.id, second?.id]]);
    expect(new Set(ids(await one.outbox.promoteAll()))).toEqual(new Set([first?.at(0), second?.at(0)]));
    expect(await one.outbox.promoteAll()).toEqual([]);
    expect(await one.promote(closed?.id ?? '')).toEqual([]);
  });
});

describe('concurrently', () => {
  it('each slot is granted to one run and reported once, however many processes look', async () => {
    const { id, runs } = await line({ inflightLimit: 0 }, ...Array.from({ length: 12 }, () => 1));
    await one.sql('UPDATE workspace SET inflight_limit = 7 WHERE id = $1', [id]);
    const looks = Array.from({ length: 12 }, (_each, index) => {
      const by = index % 2 ? one : other;
      return index % 3 ? by.promote(id) : by.outbox.promoteAll();
    });
    expect(ids((await Promise.all(looks)).flat())).toEqual(runs.slice(0, 7));
    expect(await one.counters(id)).toMatchObject({ inflight: 7, backlog: 5 });
  });

  it.each(['parks', 'ends'])(
    'a run that is parked while the last one ends is not left behind: first one %s',
    async (first) => {
      const { id, at } = await line({ inflightLimit: 1 }, 1);
      const letGo = await holdWorkspace(file.url, id);
      const park = () => one.admit(id);
      const finish = () => end(other, at(0));
      const doing: Promise<unknown>[] = [first === 'parks' ? park() : finish()];
      await waitingFor(1);
      doing.push(first === 'parks' ? finish() : park());
      await waitingFor(2);
      await letGo();
      const [parked, ended] =
        first === 'parks' ? await Promise.all(doing) : (await Promise.all(doing)).toReversed();
      const { runId, ready } = parked as { runId: string; ready: boolean };
      // Either the slot was free when it arrived, or the outcome granted it one.
      expect({ ready, ended }).toEqual(
        first === 'parks' ? { ready: false, ended: [runId] } : { ready: true, ended: [] },
      );
      expect(await one.stageOf(runId)).toBe('ready');
    },
  );

  it.each(['parks', 'changes'])(
    'a run that is parked while a limit is raised is not left behind: first it %s',
    async (first) => {
      const { id, name } = await one.workspace({ inflightLimit: 0 });
      await other.workspaces.find(name);
      const letGo = await holdWorkspace(file.url, id);
      const park = () => one.admit(id);
      const raise = () => setLimits(other, name, { inflightLimit: 1 });
      const doing: Promise<unknown>[] = [first === 'parks' ? park() : raise()];
      await waitingFor(1);
      doing.push(first === 'parks' ? raise() : park());
      await waitingFor(2);
      await letGo();
      await Promise.all(doing);
      expect(await one.counters(id)).toMatchObject({ inflight: 1, backlog: 0 });
    },
  );

  it('many admissions and outcomes never leave a run parked beside a free slot', async () => {
    const { id } = await one.workspace({ inflightLimit: 3, committedLimitMicros: cents(12) });
    const granted: string[] = [];
    const ready: string[] = [];
    const live = async (process: TestProcess, cost: number) => {
      const answer = await process.admit(id, { reservedMicros: cents(cost) });
      if (answer.kind === 'admitted' && answer.ready) ready.push(answer.runId);
      // Every run that gets a slot ends at once, and so do the runs that this grants a slot.
      while (ready.length > 0) {
        const next = await end(process, ready.pop() ?? '');
        granted.push(...next);
        ready.push(...next);
      }
    };
    await Promise.all(
      Array.from({ length: 80 }, (_each, index) => live(index % 2 ? one : other, (index % 12) + 1)),
    );
    const counters = await one.counters(id);
    expect(counters).toMatchObject({ inflight: 0, backlog: 0, heldMicros: 0 });
    expect(counters.inflightPeak).toBeLessThanOrEqual(3);
    expect(new Set(granted).size).toBe(granted.length);
    const [row] = await one.sql(
      `SELECT count(*)::integer AS ended FROM run WHERE workspace_id = $1 AND stage = 'completed'`,
      [id],
    );
    expect(row).toEqual({ ended: 80 });
    expect(granted.length).toBeGreaterThan(0);
  });
});
