import { describe, expect, it } from '@jest/globals';
import { openRunFixture } from './testing/run-fixture.js';
import { testHandle } from './testing/runs.js';

const fixture = await openRunFixture();
const { runs } = fixture.first;

const crashesOf = async (runId: string) => (await runs.readForPoll(runId))?.crashes;

describe('attempts during which a worker may have died', () => {
  it('are counted for a run that is polled, and reset when one returns', async () => {
    const { runId, epoch } = await fixture.run('running');
    expect(await crashesOf(runId)).toBe(0);
    await runs.noteAttempt(runId, epoch);
    await runs.noteAttempt(runId, epoch);
    expect(await crashesOf(runId)).toBe(2);
    await runs.forgetCrashes(runId, epoch);
    expect(await crashesOf(runId)).toBe(0);
  });

  it('are counted while assets are copied', async () => {
    const { runId, epoch } = await fixture.run('copying');
    await runs.noteAttempt(runId, epoch);
    expect(await runs.readForCopying(runId)).toMatchObject({ crashes: 1 });
    await runs.forgetCrashes(runId, epoch);
    expect(await runs.readForCopying(runId)).toMatchObject({ crashes: 0 });
  });

  it('start at zero with each handle', async () => {
    const { runId, epoch } = await fixture.run('running');
    await runs.noteAttempt(runId, epoch);
    await runs.saveHandle(runId, epoch, testHandle, 0);
    expect(await crashesOf(runId)).toBe(0);
  });

  it.each(['submitting', 'completed'] as const)(
    'change neither a run that is %s nor a run under a lost claim',
    async (stage) => {
      const { runId, epoch } = await fixture.run(stage);
      const before = await fixture.written(runId);
      await runs.noteAttempt(runId, epoch);
      await runs.forgetCrashes(runId, epoch);
      expect(await fixture.written(runId)).toEqual(before);
      const polled = await fixture.run('running');
      await runs.noteAttempt(polled.runId, polled.epoch - 1);
      expect(await crashesOf(polled.runId)).toBe(0);
    },
  );
});
