import { describe, expect, it } from '@jest/globals';
import { leaseMs, openLife } from './testing/life.js';
import { failed, testHandle, testModel, testPollMs } from './testing/runs.js';

const next = { step: 'fetch' };

const life = await openLife();

describe('a handle', () => {
  it('is saved by the worker that submitted: the run is polled from then on, its lease is over', async () => {
    const { runId, epoch } = await life.run('submitting');
    expect(await life.first.dispatching.saveHandle(runId, epoch, testHandle, 1000)).toEqual({
      cancelRequested: false,
    });
    const { run, outbox } = await life.written(runId);
    expect(run).toMatchObject({
      stage: 'running',
      epoch,
      handle: testHandle,
      poll_after_ms: 1000,
      lease_until: null,
    });
    expect(outbox).toMatchObject({ queue: 'poll', dispatched: true });
  });

  it('is saved whatever characters the partner put into it', async () => {
    const { runId, epoch } = await life.run('submitting');
    const handle = { ...testHandle, id: 'a\0b\uD83D' };
    expect(await life.first.dispatching.saveHandle(runId, epoch, handle, 1000)).not.toBeNull();
    expect((await life.written(runId)).run).toMatchObject({
      handle: { ...testHandle, id: 'a\uFFFDb\uFFFD' },
    });
  });

  it('brings its run back half a minute after the first poll should have been', async () => {
    const { runId, epoch } = await life.run('submitting');
    const saved = () => life.first.dispatching.saveHandle(runId, epoch, testHandle, 20_000);
    expect(await life.restAfter(saved, runId, 50_000)).toBe(50_000);
  });

  it('comes too late when the run was given up meanwhile, and when it has its outcome', async () => {
    const { runId, epoch } = await life.run('submitting');
    const later = life.at('61 minutes');
    expect(await later.dispatching.claim(runId, leaseMs)).toMatchObject({
      kind: 'abandoned',
      epoch: epoch + 1,
    });
    const givenUp = await life.written(runId);
    expect(await life.first.dispatching.saveHandle(runId, epoch, testHandle, 0)).toBeNull();
    expect(await life.written(runId)).toEqual(givenUp);

    await later.dispatching.finish(runId, epoch + 1, failed('provider_error'));
    const completed = await life.written(runId);
    for (const late of [epoch, epoch + 1]) {
      expect(await life.first.dispatching.saveHandle(runId, late, testHandle, 0)).toBeNull();
    }
    expect(await life.written(runId)).toEqual(completed);
  });

  it('is none of a run whose submission has not begun', async () => {
    const { runId, epoch } = await life.run('claimed');
    expect(await life.first.dispatching.saveHandle(runId, epoch, testHandle, 0)).toBeNull();
    expect((await life.written(runId))['run']).toMatchObject({ stage: 'ready', handle: null });
  });

  it('tells of a cancellation that was asked for while the submission was in the air', async () => {
    const spaceId = await life.space();
    const { runId, epoch } = await life.run('submitting', { spaceId });
    expect(await life.second.answers.requestCancel(spaceId, testModel, runId)).toMatchObject({
      found: 'dispatched',
    });
    expect(await life.first.dispatching.saveHandle(runId, epoch, testHandle, 1000)).toEqual({
      cancelRequested: true,
    });
    expect(await life.second.dispatching.readForPoll(runId)).toMatchObject({
      cancelDue: true,
      handle: testHandle,
    });
  });

  it('is replaced by the next one that the partner gives, and the longest pause is what callers are told', async () => {
    const { runId, epoch } = await life.run('running');
    expect(await life.second.dispatching.saveHandle(runId, epoch, next, 0)).toEqual({
      cancelRequested: false,
    });
    expect((await life.written(runId))['run']).toMatchObject({ handle: next, poll_after_ms: testPollMs });
    expect(await life.second.dispatching.saveHandle(runId, epoch - 1, testHandle, 0)).toBeNull();
    expect((await life.written(runId))['run']).toMatchObject({ handle: next });
  });
});
