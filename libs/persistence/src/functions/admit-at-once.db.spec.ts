import { describe, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { v7 } from 'uuid';
import { waitFor } from '../../../../test/harness/wait-for.js';
import { type Admitted, AdmissionRepository } from '../admission.repository.js';
import {
  type AdmissionFacts,
  admissionOf,
  cancelled,
  cents,
  holdWorkspace,
  offsetToSecond,
  type TestProcess,
} from '../testing/runs.js';
import { SpecDatabase } from '../testing/spec-database.js';

const file = await SpecDatabase.create();
// The clock is at the start of a minute, so that no minute ends between two admissions.
const beginning = offsetToSecond(0);
const processes = [file.process(beginning), file.process(beginning)];
const gateway = (index: number): TestProcess => processes[index % processes.length] as TestProcess;
/** One repository batches its admissions, so several of them per gateway make overlapping statements. */
const lines = Array.from({ length: 12 }, (_each, index) => new AdmissionRepository(gateway(index).database));

async function crowd(
  workspaceId: string,
  count: number,
  facts: (index: number) => AdmissionFacts,
): Promise<Admitted[]> {
  return Promise.all(
    Array.from({ length: count }, (_each, index) =>
      (lines[index % lines.length] as AdmissionRepository).admitRun(admissionOf(workspaceId, facts(index))),
    ),
  );
}

function tally(answers: readonly Admitted[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const each of answers) {
    const name =
      each.kind === 'refused' ? each.limit : each.kind === 'admitted' && !each.ready ? 'parked' : each.kind;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const refusalsOf = (answers: readonly Admitted[]) => answers.filter(({ kind }) => kind === 'refused');

describe('concurrent admissions on two gateways', () => {
  it('take exactly the available slots: 10 of 200', async () => {
    const { id } = await gateway(0).workspace({ inflightLimit: 10 });
    const answers = await crowd(id, 200, () => ({ mode: 'sync' }));
    expect(tally(answers)).toEqual({ admitted: 10, inflight: 190 });
    for (const each of refusalsOf(answers)) expect(each).toMatchObject({ inflight: 10, inflightLimit: 10 });
    expect(await gateway(0).counters(id)).toMatchObject({
      inflight: 10,
      inflightPeak: 10,
      committedMicros: cents(10),
    });
  });

  it('take exactly the available spend: 3 of 100 runs of 30 cents below 100', async () => {
    const { id } = await gateway(0).workspace({ committedLimitMicros: cents(100) });
    const answers = await crowd(id, 100, () => ({ mode: 'sync', reservedMicros: cents(30) }));
    expect(tally(answers)).toEqual({ admitted: 3, spend: 97 });
    for (const each of refusalsOf(answers)) expect(each).toMatchObject({ committedMicros: cents(90) });
    expect(await gateway(0).counters(id)).toMatchObject({ inflight: 3, committedPeakMicros: cents(90) });
  });

  it('take exactly the available credits: 10 of 100 runs of 30 cents with 310', async () => {
    const { id } = await gateway(0).workspace({ balanceMicros: cents(310), inflightLimit: 4 });
    const answers = await crowd(id, 100, () => ({ reservedMicros: cents(30) }));
    expect(tally(answers)).toEqual({ admitted: 4, parked: 6, credits: 90 });
    expect(await gateway(0).counters(id)).toMatchObject({
      heldMicros: cents(300),
      balanceMicros: cents(310),
    });
  });

  it('take exactly the available window: 25 of 100', async () => {
    const { id } = await gateway(0).workspace({ windowLimit: 25 });
    expect(tally(await crowd(id, 100, () => ({})))).toEqual({ admitted: 25, window: 75 });
  });

  it('fill the line exactly, and each gets its own position', async () => {
    const { id } = await gateway(0).workspace({ inflightLimit: 5, backlogLimit: 40 });
    const answers = await crowd(id, 100, () => ({}));
    expect(tally(answers)).toEqual({ admitted: 5, parked: 40, backlog: 55 });
    const order = await gateway(0).sql<{ id: string }>(
      'SELECT run_id AS id FROM outbox WHERE workspace_id = $1 ORDER BY place',
      [id],
    );
    const places = answers.flatMap((each) =>
      each.kind === 'admitted' ? [[each.runId, each.position, each.ready]] : [],
    );
    expect(places.toSorted(([, one], [, other]) => Number(one) - Number(other))).toEqual(
      order.map((each, index) => [each.id, index, index < 5]),
    );
  });

  it('keep every limit while other runs end, and lose no slot', async () => {
    const { id } = await gateway(0).workspace({ inflightLimit: 5, committedLimitMicros: cents(20) });
    const answers = await Promise.all(
      Array.from({ length: 120 }, async (_each, index) => {
        const line = lines[index % lines.length] as AdmissionRepository;
        const answer = await line.admitRun(
          admissionOf(id, { mode: 'sync', reservedMicros: cents((index % 9) + 1) }),
        );
        if (answer.kind === 'admitted') await gateway(index).finish(answer.runId, 0, cancelled);
        return answer;
      }),
    );
    const { admitted = 0 } = tally(answers);
    expect(admitted).toBeGreaterThan(0);
    const counters = await gateway(0).counters(id);
    expect(counters).toMatchObject({ inflight: 0, committedMicros: 0, heldMicros: 0, backlog: 0 });
    expect(counters.inflightPeak).toBeLessThanOrEqual(5);
    expect(counters.committedPeakMicros).toBeLessThanOrEqual(cents(20));
    expect(await gateway(0).outbox.drift()).toEqual([]);
  });
});

/** One statement for several workspaces, which waits for each of their locks. */
const admit = async (pool: Pool, items: AdmissionFacts[], workspaceIds: string[]): Promise<Admitted[]> => {
  const runs = items.map((each) => ({
    ...admissionOf('', each),
    body: undefined,
    bodyFrom: 1,
    bodyBytes: 0,
  }));
  const { rows } = await pool.query<{ results: Admitted[] }>(`SELECT admit($1, $2, '', true) AS results`, [
    workspaceIds,
    JSON.stringify(runs),
  ]);
  return rows.flatMap(({ results }) => results);
};

describe('overlapping batches', () => {
  it('never deadlock, whatever their order', async () => {
    const spaces = await Promise.all([0, 1, 2].map(() => gateway(0).workspace()));
    // Without retries after a deadlock, which would hide it.
    const pool = new Pool({ connectionString: file.url, max: 8 });
    try {
      const batches = Array.from({ length: 48 }, (_each, index) => {
        const places = index % 2 ? [0, 1, 2] : [2, 1, 0];
        // Each key is in two batches, in opposite orders.
        const items = places.map((place) => ({ key: `${place}-${Math.floor(index / 2)}` }));
        return admit(
          pool,
          items,
          places.map((place) => spaces[place]?.id ?? ''),
        );
      });
      expect(tally((await Promise.all(batches)).flat())).toEqual({ admitted: 72, existing: 72 });
    } finally {
      await pool.end();
    }
  });

  it('take keys under the lock of their workspace: a statement that waits for the lock holds no key', async () => {
    const { id } = await gateway(0).workspace();
    const letGo = await holdWorkspace(file.url, id);
    const pool = new Pool({ connectionString: file.url });
    const client = await pool.connect();
    try {
      const waiting = gateway(0).admit(id, { key: 'a' });
      await waitFor(async () => (await gateway(1).waiting()) === 1, {
        withinMs: 60_000,
        what: 'the batch to wait',
      });
      await client.query(`BEGIN; SET LOCAL lock_timeout = '2s'`);
      await client.query(
        `INSERT INTO idempotency_key VALUES ($1, 'a', '', gen_random_uuid(), router_now())`,
        [id],
      );
      await client.query('ROLLBACK');
      await letGo();
      expect(await waiting).toMatchObject({ kind: 'admitted' });
    } finally {
      await letGo();
      client.release(true);
      await pool.end();
    }
  });

  it('lock workspaces in one order: a statement that waits for one holds no later one', async () => {
    const [one, two] = (await Promise.all([gateway(0).workspace(), gateway(0).workspace()]))
      .map(({ id }) => id)
      .toSorted() as [string, string];
    const pool = new Pool({ connectionString: file.url });
    const letGo = await holdWorkspace(file.url, one);
    try {
      const waiting = admit(pool, [{}, {}], [two, one]);
      await waitFor(async () => (await gateway(0).waiting()) === 1, {
        withinMs: 60_000,
        what: 'the batch to wait',
      });
      await gateway(0).sql('SELECT 1 FROM workspace WHERE id = $1 FOR UPDATE NOWAIT', [two]);
      await letGo();
      expect((await waiting).map(({ kind }) => kind)).toEqual(['admitted', 'admitted']);
    } finally {
      await letGo();
      await pool.end();
    }
  });

  it('count in the order of their locks and see what was admitted meanwhile', async () => {
    const { id } = await gateway(0).workspace({ inflightLimit: 1 });
    const letGo = await holdWorkspace(file.url, id);
    const both = [0, 1].map((index) => gateway(index).admit(id, { mode: 'sync', runId: v7() }));
    await waitFor(async () => (await gateway(0).waiting()) === 2, { withinMs: 60_000, what: 'both to wait' });
    await letGo();
    expect(tally(await Promise.all(both))).toEqual({ admitted: 1, inflight: 1 });
  });
});
