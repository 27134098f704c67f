import { describe, expect, it } from '@jest/globals';
import { openRunFixture } from './testing/run-fixture.js';
import { failed, testHandle, testModel, testPollMs } from './testing/runs.js';

const next = { step: 'fetch' };

const fixture = await openRunFixture();

describe('a handle', () => {
  it('is saved by the worker that submitted; the run is then polled and its lease ends', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    expect(await fixture.first.runs.saveHandle(runId, epoch, testHandle, 1000)).toEqual({
      cancelRequested: false,
    });
    const { run, outbox } = await fixture.written(runId);
    expect(run).toMatchObject({
      stage: 'running',
      epoch,
      handle: testHandle,
      poll_after_ms: 1000,
      lease_until: null,
    });
    expect(outbox).toMatchObject({ queue: 'poll', dispatched: true });
  });

  it('is saved whatever characters it contains', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    const handle = { ...testHandle, id: 'a\0b\uD83D' };
    expect(await fixture.first.runs.saveHandle(runId, epoch, handle, 1000)).not.toBeNull();
    expect((await fixture.written(runId)).run).toMatchObject({
      handle: { ...testHandle, id: 'a\uFFFDb\uFFFD' },
    });
  });

  it('brings its run back twelve seconds after the first poll was due', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    const saved = () => fixture.first.runs.saveHandle(runId, epoch, testHandle, 20_000);
    expect(await fixture.restAfter(saved, runId, 32_000)).toBe(32_000);
  });

  it('comes too late if the run was given up or completed meanwhile', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    const later = fixture.at('61 minutes');
    expect(await fixture.swept(runId, later)).toMatchObject({
      kind: 'abandoned',
      epoch: epoch + 1,
    });
    const givenUp = await fixture.written(runId);
    expect(await fixture.first.runs.saveHandle(runId, epoch, testHandle, 0)).toBeNull();
    expect(await fixture.written(runId)).toEqual(givenUp);

    await later.finish(runId, epoch + 1, failed('provider_error'));
    const completed = await fixture.written(runId);
    for (const late of [epoch, epoch + 1]) {
      expect(await fixture.first.runs.saveHandle(runId, late, testHandle, 0)).toBeNull();
    }
    expect(await fixture.written(runId)).toEqual(completed);
  });

  it('is not saved for a run whose submission has not begun', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    expect(await fixture.first.runs.saveHandle(runId, epoch, testHandle, 0)).toBeNull();
    expect((await fixture.written(runId))['run']).toMatchObject({ stage: 'ready', handle: null });
  });

  it('reports a cancellation that was requested while the submission was in flight', async () => {
    const spaceId = await fixture.space();
    const { runId, epoch } = await fixture.run('submitting', { spaceId });
    expect(await fixture.second.runs.requestCancel(spaceId, testModel, runId)).toMatchObject({
      found: 'dispatched',
    });
    expect(await fixture.first.runs.saveHandle(runId, epoch, testHandle, 1000)).toEqual({
      cancelRequested: true,
    });
    expect(await fixture.second.runs.readForPoll(runId)).toMatchObject({
      cancelDue: true,
      handle: testHandle,
    });
  });

  it('is replaced by the provider’s next handle, and callers are told the longest pause', async () => {
    const { runId, epoch } = await fixture.run('running');
    expect(await fixture.second.runs.saveHandle(runId, epoch, next, 0)).toEqual({
      cancelRequested: false,
    });
    expect((await fixture.written(runId))['run']).toMatchObject({ handle: next, poll_after_ms: testPollMs });
    expect(await fixture.second.runs.saveHandle(runId, epoch - 1, testHandle, 0)).toBeNull();
    expect((await fixture.written(runId))['run']).toMatchObject({ handle: next });
  });
});
