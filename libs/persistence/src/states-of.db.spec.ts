import { expect, it } from '@jest/globals';
import { openLife } from './testing/life.js';
import { admissionOf, testModel } from './testing/runs.js';

const life = await openLife();
const { first } = life;

it('the states of many runs at once are those of each alone, their places in the line too', async () => {
  const spaces = [await life.space({ inflightLimit: 3 }), await life.space({ inflightLimit: 1 })];
  const runs: { spaceId: string; runId: string }[] = [];
  for (const spaceId of [...spaces, ...spaces, ...spaces, ...spaces, ...spaces]) {
    const admission = admissionOf(spaceId);
    await first.admissions.admit(admission);
    runs.push({ spaceId, runId: admission.runId });
  }
  const [ahead, , second] = runs;
  await first.take(ahead?.runId ?? '', 'running', 60_000);
  await first.dispatching.notePoll(ahead?.runId ?? '', 1, 0, 0.25);
  await first.answers.requestCancel(second?.spaceId ?? '', testModel, second?.runId ?? '');
  const found = await first.holding.statesOf(runs.map(({ runId }) => runId));
  expect(found.length).toBe(runs.length);
  for (const { spaceId, runId } of runs) {
    const alone = await first.answers.state(spaceId, testModel, runId);
    const { runId: _id, ...together } = found.find((each) => each.runId === runId) ?? { runId };
    expect(alone).toMatchObject(together);
  }
  expect(found.find(({ runId }) => runId === ahead?.runId)).toMatchObject({
    stage: 'running',
    progress: 0.25,
  });
});
