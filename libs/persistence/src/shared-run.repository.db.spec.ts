import { expect, it } from '@jest/globals';
import { SharedRunRepository } from './shared-run.repository.js';
import { openRunFixture } from './testing/run-fixture.js';

const fixture = await openRunFixture();
const shares = new SharedRunRepository(fixture.first.database);

it('keeps the link of a run until the run is forgotten, and longer if the workspace keeps the run', async () => {
  const [run, kept] = [await fixture.run('completed'), await fixture.run('completed')];
  const share = ({ spaceId: workspaceId, runId }: typeof run) =>
    shares.share({ workspaceId, runId, model: 'tested/model' });
  const [runLink, keptLink] = [await share(run), await share(kept)];
  expect([await share(run), await share(kept)]).toEqual([runLink, keptLink]);
  await fixture.first.sql(
    `INSERT INTO kept_run (run_id, workspace_id, model, completed_at, kept_at) VALUES ($1, $2, 'tested/model', now(), now())`,
    [kept.runId, kept.spaceId],
  );
  await fixture.at('7 days').retention.deleteOld('shared_run');
  expect(await shares.find(runLink)).toMatchObject({ runId: run.runId, workspaceId: run.spaceId });
  await fixture.at('9 days').retention.deleteOld('shared_run');
  expect(await shares.find(runLink)).toBeNull();
  expect(await shares.find(keptLink)).toMatchObject({ runId: kept.runId });
});
