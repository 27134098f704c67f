import { expect, it } from '@jest/globals';
import { openRunFixture } from './testing/run-fixture.js';
import { admissionOf, testModel } from './testing/runs.js';

const fixture = await openRunFixture();
const { first } = fixture;

it('the states of many runs at once equal those of each alone, including their positions', async () => {
  const spaces = [await fixture.space({ inflightLimit: 3 }), await fixture.space({ inflightLimit: 1 })];
  const runs: { spaceId: string; runId: string }[] = [];
  for (const spaceId of [...spaces, ...spaces, ...spaces, ...spaces, ...spaces]) {
    const admission = admissionOf(spaceId);
    await first.admissions.admitRun(admission);
    runs.push({ spaceId, runId: admission.runId });
  }
  const [ahead, , second] = runs;
  await first.take(ahead?.runId ?? '', 'running', 60_000);
  await first.runs.notePoll(ahead?.runId ?? '', 1, 0, 0.25);
  await first.runs.requestCancel(second?.spaceId ?? '', testModel, second?.runId ?? '');
  const found = await first.heldRuns.statesOf(runs.map(({ runId }) => runId));
  expect(found.length).toBe(runs.length);
  for (const { spaceId, runId } of runs) {
    const alone = await first.runReader.state(spaceId, testModel, runId);
    const { runId: _id, ...together } = found.find((each) => each.runId === runId) ?? { runId };
    expect(alone).toMatchObject(together);
  }
  expect(found.find(({ runId }) => runId === ahead?.runId)).toMatchObject({
    stage: 'running',
    progress: 0.25,
  });
});
