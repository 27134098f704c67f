import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { type Ending, type FailureRow, failureOf } from './run-facts.js';
import { cents, failed, holdWorkspace, succeeded } from './testing/runs.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const worker = file.process();
const other = file.process();

/** Submitted runs of new workspaces, with their claims. */
async function runningIn(workspaces: number, each: number) {
  const spaces = await Promise.all(Array.from({ length: workspaces }, () => worker.workspace()));
  return Promise.all(
    Array.from({ length: each }, () => spaces)
      .flat()
      .map(async ({ id }) => {
        const runId = await worker.run(id);
        return { runId, workspaceId: id, epoch: await worker.take(runId, 'running') };
      }),
  );
}

const echoed = ({ runId }: { runId: string }): Ending => ({
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from(`{"of":"${runId}"}`),
});

const idsOf = (runs: { runId: string }[]) => runs.map(({ runId }) => runId);

/** The number of transactions that wrote the outcomes of these runs. */
async function commitsOf(runs: { runId: string }[]): Promise<number | undefined> {
  const [row] = await worker.sql<{ commits: number }>(
    'SELECT count(DISTINCT xmin::text)::integer AS commits FROM audit_record WHERE run_id = ANY($1)',
    [idsOf(runs)],
  );
  return row?.commits;
}

describe('outcomes', () => {
  it('of all workspaces share the next statement while one is in flight', async () => {
    const runs = await runningIn(6, 4);
    const finished = await Promise.all(runs.map((run) => worker.runs.finishRun(run, echoed(run))));
    expect(finished.map(({ won }) => won)).toEqual(runs.map(() => true));
    expect(await commitsOf(runs)).toBe(2);
    const rows = await worker.sql<{ id: string; body: Buffer }>(
      `SELECT run_id AS id, body FROM payload WHERE run_id = ANY($1) AND kind = 'output' ORDER BY run_id`,
      [idsOf(runs)],
    );
    const wanted = idsOf(runs).toSorted();
    expect(rows.map((row) => ({ id: row.id, body: String(row.body) }))).toEqual(
      wanted.map((id) => ({ id, body: `{"of":"${id}"}` })),
    );
    for (const { workspaceId } of runs)
      expect(await worker.counters(workspaceId)).toMatchObject({ inflight: 0, heldMicros: 0 });
  });

  it('keep the order of a failure’s members, and can be read from rows of earlier releases', async () => {
    const [run] = (await runningIn(1, 1)) as [Running];
    const fields = [{ type: 't', msg: 'm', loc: ['body', 'a'], ctx: { limit: 1, b: 2, a: 3 } }];
    await worker.runs.finishRun(run, {
      outcome: 'failed',
      bucket: 'invalid_input',
      status: 422,
      detail: 'No.',
      fields,
      billable: false,
    });
    const [row] = await worker.sql<{ model: string }>('SELECT model FROM run WHERE id = $1', [run.runId]);
    const read = async () => {
      const result = await worker.runReader.result(run.workspaceId, row?.model ?? '', run.runId);
      return result === null || result === 'aged_out' ? null : result.failure;
    };
    expect(JSON.stringify(await read())).toBe(JSON.stringify({ detail: 'No.', fields }));
    const [stored] = await worker.sql<{ failure: FailureRow }>('SELECT failure FROM run WHERE id = $1', [
      run.runId,
    ]);
    expect(stored?.failure).toMatchObject({ detail: 'No.', fields });
    const { fieldsText: _text, ...earlier } = stored?.failure ?? { detail: '' };
    expect(failureOf(earlier)).toEqual({ detail: 'No.', fields });
  });

  it('of a locked workspace do not delay those of others', async () => {
    const [held, free] = (await runningIn(2, 1)) as [Running, Running];
    const letGo = await holdWorkspace(file.url, held.workspaceId);
    const waiting = worker.runs.finishRun(held, succeeded);
    try {
      expect((await worker.runs.finishRun(free, succeeded)).won).toBe(true);
      expect(await worker.stageOf(held.runId)).toBe('running');
    } finally {
      await letGo();
    }
    expect((await waiting).won).toBe(true);
  });

  it('fail alone when the database rejects one', async () => {
    const runs = await runningIn(1, 5);
    const stored: Ending = { outcome: 'succeeded', mediaType: 'image/png', body: { storedAs: v7() } };
    const written = await Promise.allSettled(
      runs.map((run, index) => worker.runs.finishRun(run, index === 3 ? stored : succeeded)),
    );
    expect(written.map(({ status }) => status)).toEqual(
      runs.map((_, index) => (index === 3 ? 'rejected' : 'fulfilled')),
    );
    expect(await Promise.all(idsOf(runs).map((id) => worker.stageOf(id)))).toEqual(
      runs.map((_, index) => (index === 3 ? 'running' : 'completed')),
    );
  });

  it('of one batch are billed one by one, and grant the slots they freed together', async () => {
    const space = await worker.workspace({ inflightLimit: 4, balanceMicros: cents(10) });
    const running = [];
    for (let nth = 0; nth < 4; nth += 1) {
      const runId = await worker.run(space.id);
      running.push({ runId, workspaceId: space.id, epoch: await worker.take(runId, 'running') });
    }
    const parked = [];
    for (let nth = 0; nth < 5; nth += 1) parked.push(await worker.run(space.id));
    const finished = await Promise.all(running.map((run) => worker.runs.finishRun(run, succeeded)));

    expect(await commitsOf(running)).toBe(2);
    expect(finished.flatMap(({ granted }) => idsOf(granted))).toEqual(parked.slice(0, 4));
    expect(await worker.counters(space.id)).toMatchObject({
      inflight: 4,
      backlog: 1,
      committedMicros: cents(4),
      heldMicros: cents(5),
      balanceMicros: cents(6),
      inflightPeak: 4,
    });
    const entries = await worker.sql<{ left: number }>(
      'SELECT balance_micros::float AS left FROM ledger_entry WHERE workspace_id = $1 AND run_id IS NOT NULL ORDER BY id',
      [space.id],
    );
    expect(entries.map(({ left }) => left)).toEqual([cents(9), cents(8), cents(7), cents(6)]);
  });

  it('written twice in one batch count once', async () => {
    const [first, run] = (await runningIn(1, 2)) as [Running, Running];
    const won = await Promise.all([
      worker.runs.finishRun(first, succeeded),
      worker.runs.finishRun(run, succeeded),
      worker.runs.finishRun(run, failed('provider_error')),
    ]);
    expect(won.map((each) => each.won)).toEqual([true, true, false]);
  });

  it('do not deadlock when two workers write them while leases are renewed', async () => {
    const runs = await runningIn(4, 12);
    const claims = await Promise.all(
      runs.map(async ({ workspaceId }) => {
        const runId = await worker.run(workspaceId);
        return { runId, epoch: await worker.take(runId, 'claimed') };
      }),
    );
    const all = [...runs, ...claims].toSorted(() => Math.random() - 0.5);
    const renewed = Array.from({ length: 20 }, () => other.dispatch.renewLeases(all, 60_000));
    const finished = runs.map((run, index) => (index % 2 ? worker : other).runs.finishRun(run, succeeded));
    await Promise.all([...renewed, ...finished]);
    expect((await Promise.all(finished)).every(({ won }) => won)).toBe(true);
    const [row] = await worker.sql<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(Number(row?.deadlocks)).toBe(0);
  });
});

type Running = Awaited<ReturnType<typeof runningIn>>[number];
