import { expect, it } from '@jest/globals';
import { SpecDatabase } from '../testing/spec-database.js';
import { testModel } from '../testing/runs.js';

const file = await SpecDatabase.create();
const gateway = file.process();

/** Admits so many runs, in the order of their ids here. */
async function runsOf(workspaceId: string, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => gateway.run(workspaceId)));
}

async function positionOf(workspaceId: string, runId: string): Promise<number | null | undefined> {
  const state = await gateway.runReader.state(workspaceId, testModel, runId);
  return state === null || state === 'aged_out' ? undefined : state.position;
}

it('a place in a line of several chunks is exact, also after runs have left it at its head and in its middle', async () => {
  const { id, name } = await gateway.workspace({ inflightLimit: 0 });
  const runs = await runsOf(id, 700);
  const places = async () =>
    Promise.all([0, 299, 300, 450, 699].map(async (index) => positionOf(id, runs[index] ?? '')));
  expect(await places()).toEqual([0, 299, 300, 450, 699]);
  for (const runId of runs.slice(100, 299)) await gateway.runs.requestCancel(id, testModel, runId);
  expect(await places()).toEqual([0, 100, 101, 251, 500]);
  // All of the first chunk are granted or gone; those that are granted were not dispatched yet.
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
});

it('a chunk begins at the first of its runs, also when runs of several workspaces are parked at once', async () => {
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
