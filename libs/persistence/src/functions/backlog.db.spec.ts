import { describe, expect, it } from '@jest/globals';
import { admissionOf, testModel } from '../testing/runs.js';
import { SpecDatabase } from '../testing/spec-database.js';

const file = await SpecDatabase.create();
const gateway = file.process();

/** Admits this many runs, and returns their ids in the order of admission. */
async function runsOf(workspaceId: string, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => gateway.run(workspaceId)));
}

async function positionOf(workspaceId: string, runId: string): Promise<number | null | undefined> {
  const state = await gateway.runReader.state(workspaceId, testModel, runId);
  return state === null || state === 'aged_out' ? undefined : state.position;
}

it('a position in a line of several chunks is exact, also after runs left its head and its middle', async () => {
  const { id, name } = await gateway.workspace({ inflightLimit: 0 });
  const runs = await runsOf(id, 700);
  const places = async () =>
    Promise.all([0, 299, 300, 450, 699].map(async (index) => positionOf(id, runs[index] ?? '')));
  expect(await places()).toEqual([0, 299, 300, 450, 699]);
  for (const runId of runs.slice(100, 299)) await gateway.runs.requestCancel(id, testModel, runId);
  expect(await places()).toEqual([0, 100, 101, 251, 500]);
  // All runs of the first chunk are granted or gone. The granted ones are not yet dispatched.
  await gateway.workspaces.change(name, { inflightLimit: 150 }, 'test');
  expect(await places()).toEqual([0, 100, 101, 251, 500]);
  expect(await gateway.admit(id)).toMatchObject({ ready: false, position: 501 });
  await gateway.take(runs[0] ?? '', 'submitting');
  expect(await places()).toEqual([null, 99, 100, 250, 499]);
});

it('granted runs that wait for their dispatch are counted up to a thousand', async () => {
  const { id } = await gateway.workspace({ inflightLimit: 2_000 });
  const runs = await runsOf(id, 1_100);
  expect(await positionOf(id, runs[998] ?? '')).toBe(998);
  expect(await positionOf(id, runs[1_099] ?? '')).toBe(1_000);
  expect(await gateway.admit(id)).toMatchObject({ ready: true, position: 1_000 });
});

it('a chunk begins at its first run, also when runs of several workspaces are parked at once', async () => {
  const spaces = await Promise.all([0, 1, 2].map(() => gateway.workspace({ inflightLimit: 0 })));
  const ids = spaces.map(({ id }) => id);
  await Promise.all([...ids, ...ids, ...ids].map((id) => gateway.run(id)));
  const chunks = await gateway.sql(
    `SELECT workspace_id, min(first_place) AS first, sum(runs)::integer AS runs FROM backlog_chunk
      WHERE workspace_id = ANY ($1) GROUP BY 1 ORDER BY 1`,
    [ids],
  );
  const lines = await gateway.sql(
    `SELECT workspace_id, min(place) AS first, count(*)::integer AS runs FROM outbox
      WHERE workspace_id = ANY ($1) GROUP BY 1 ORDER BY 1`,
    [ids],
  );
  expect(lines).toHaveLength(3);
  expect(chunks).toEqual(lines);
});

/** Admits a run this many milliseconds after the last count, in one statement that sets its clock first. */
async function admitAfterCount(
  workspaceId: string,
  afterMs: number,
): Promise<{ position: number; rowsRead: number } | undefined> {
  const run = { ...admissionOf(workspaceId), body: undefined, bodyFrom: 1, bodyBytes: 0 };
  const rowsRead = `pg_stat_get_xact_tuples_returned('outbox_undispatched'::regclass)`;
  const [row] = await gateway.sql<{ position: number; rowsRead: number }>(
    `WITH clock AS MATERIALIZED (
       SELECT ${rowsRead} AS "rowsRead", set_config('router.clock_offset',
         (undispatched_counted_at + $3 * interval '1 millisecond' - clock_timestamp())::text, true)
       FROM workspace WHERE id = $1
     ), admitted AS MATERIALIZED (
       SELECT admit(ARRAY[$1::uuid], $2, '', true) -> 0 AS result, "rowsRead" FROM clock
     ) SELECT (result -> 'position')::integer AS position, (${rowsRead} - "rowsRead")::integer AS "rowsRead" FROM admitted`,
    [workspaceId, JSON.stringify([run]), afterMs],
  );
  return row;
}

const takeAll = async (runIds: readonly string[]): Promise<void> => {
  for (const runId of runIds) await gateway.take(runId, 'submitting');
};

describe('the position that an admission returns', () => {
  it('is exact in a line of up to twenty granted runs', async () => {
    const { id } = await gateway.workspace();
    const runs = await runsOf(id, 20);
    expect(await gateway.admit(id)).toMatchObject({ position: 20 });
    await takeAll(runs.slice(0, 10));
    expect(await admitAfterCount(id, 1_001)).toMatchObject({ position: 11 });
    await takeAll(runs.slice(10, 15));
    expect(await admitAfterCount(id, 0)).toMatchObject({ position: 7 });
  });

  it.each([
    ['counts runs that were dispatched less than a second ago', 500, 30],
    ['is counted again after a second', 1_001, 18],
    ['is counted again when the clock was set back', -1, 18],
  ])('in a longer line %s', async (_what, afterMs, position) => {
    const { id } = await gateway.workspace();
    const runs = await runsOf(id, 30);
    await takeAll(runs.slice(0, 12));
    expect(await admitAfterCount(id, afterMs)).toMatchObject({ position });
    expect(await admitAfterCount(id, 500)).toMatchObject({ position: position + 1 });
  });

  it('includes runs that were admitted or promoted since the last count', async () => {
    const { id, name } = await gateway.workspace({ inflightLimit: 25 });
    await runsOf(id, 40);
    expect(await admitAfterCount(id, 500)).toMatchObject({ position: 40 });
    await gateway.workspaces.change(name, { inflightLimit: 50 }, 'test');
    expect(await admitAfterCount(id, 500)).toMatchObject({ position: 41 });
  });

  it('is never above the number of runs in flight', async () => {
    const { id } = await gateway.workspace();
    const runs = await runsOf(id, 30);
    for (const runId of runs.slice(0, 12)) await gateway.runs.requestCancel(id, testModel, runId);
    expect(await admitAfterCount(id, 500)).toMatchObject({ position: 18 });
  });

  it.each([
    [300, 300],
    [1_100, 1_000],
  ])(
    'reads no row of a line of %i within a second, and %i rows to count it again',
    async (count, counted) => {
      const { id } = await gateway.workspace({ inflightLimit: 2_000 });
      await runsOf(id, count - 1);
      expect(await admitAfterCount(id, 500)).toMatchObject({ rowsRead: 0 });
      expect(await admitAfterCount(id, 1_001)).toEqual({ position: counted, rowsRead: counted });
    },
  );
});
