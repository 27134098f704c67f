import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { KeptRunRepository } from './kept-run.repository.js';
import { maxSamples, ModelSampleRepository } from './model-sample.repository.js';
import { SharedRunRepository } from './shared-run.repository.js';
import { openRunFixture } from './testing/run-fixture.js';

const fixture = await openRunFixture();
const { database } = fixture.first;
const settings = { RESULT_RETENTION_SECONDS: 86_400 };
const samples = new ModelSampleRepository(database, settings);
const keptRuns = new KeptRunRepository(database, settings);
const shares = new SharedRunRepository(database);

const pin = ({ spaceId: workspaceId, runId: requestId }: { spaceId: string; runId: string }, model: string) =>
  samples.pin({ workspaceId, requestId, model }, [], 'op');
const pinned = { result: 'kept', maxAllowed: null };
/** A run of a workspace that allows samples. */
const run = async (stage: 'running' | 'completed', allowSamples = true) =>
  fixture.run(stage, { spaceId: await fixture.space({ allowSamples }) });

it('pins no run of a workspace that does not allow it', async () => {
  const model = `tested/${v7()}`;
  expect(await pin(await run('completed', false), model)).toEqual({
    result: 'not_allowed',
    maxAllowed: null,
  });
  expect(await samples.list(model)).toEqual([]);
});

it('lists a run as long as it is kept and shared, and not again when it is kept or shared again', async () => {
  const model = `tested/${v7()}`;
  const [unkept, unshared, unpinned] = [
    await run('completed'),
    await run('completed'),
    await run('completed'),
  ];
  const link = await shares.share({ workspaceId: unshared.spaceId, runId: unshared.runId, model });
  for (const each of [unkept, unshared, unpinned, unshared]) expect(await pin(each, model)).toEqual(pinned);
  const listed = await samples.list(model);
  expect(listed.map(({ shareId }) => shareId)).toEqual([expect.any(String), link, expect.any(String)]);
  const { shareId: unpinnedLink = '' } = listed[0] ?? {};
  expect(await shares.find(unpinnedLink)).toMatchObject({ runId: unpinned.runId });

  await keptRuns.unkeep(unkept.spaceId, unkept.runId);
  await shares.unshare(unshared.spaceId, unshared.runId);
  expect(await samples.list(model)).toEqual(listed.slice(0, 1));
  await keptRuns.keep(unkept.spaceId, unkept.runId, []);
  await shares.share({ workspaceId: unshared.spaceId, runId: unshared.runId, model });
  expect(await samples.list(model)).toEqual(listed.slice(0, 1));

  for (let times = 0; times < 2; times += 1) await samples.unpin(unpinned.runId, 'op');
  expect(await samples.list(model)).toEqual([]);
  expect(await shares.find(unpinnedLink)).toBeNull();
  const actions = await fixture.first.sql<{ action: string }>(
    'SELECT action FROM operator_action WHERE subject = $1 ORDER BY id',
    [unpinned.runId],
  );
  expect(actions.map(({ action }) => action)).toEqual(['sample.pin', 'sample.unpin']);
});

it('changes nothing for a run that cannot be kept, and for one above the limit, also of concurrent calls', async () => {
  const model = `tested/${v7()}`;
  const [live, stranger] = [await run('running'), await run('completed')];
  expect(await pin(live, model)).toEqual({ result: 'live', maxAllowed: null });
  expect(await pin({ ...stranger, spaceId: live.spaceId }, model)).toBeNull();
  const runs = [];
  for (let count = 0; count <= maxSamples; count += 1) runs.push(await run('completed'));
  const results = await Promise.all(runs.map(async (run) => ({ run, pinned: await pin(run, model) })));
  const refused = results.filter((each) => each.pinned?.result !== 'kept');
  expect(refused.map((each) => each.pinned)).toEqual([{ result: 'samples', maxAllowed: maxSamples }]);
  expect(await samples.list(model)).toHaveLength(maxSamples);
  expect(
    await fixture.first.sql('SELECT FROM kept_run WHERE run_id = ANY ($1)', [
      [live.runId, stranger.runId, refused[0]?.run.runId],
    ]),
  ).toEqual([]);
});
