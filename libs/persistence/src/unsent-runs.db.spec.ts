import { describe, expect, it } from '@jest/globals';
import type { Ending } from './run-facts.js';
import { leaseMs, openRunFixture } from './testing/run-fixture.js';

const fixture = await openRunFixture();
const { first: worker } = fixture;

const unknown: Ending = {
  outcome: 'failed',
  bucket: 'internal_error',
  status: 500,
  detail: 'Outcome unknown.',
  billable: false,
};

const claim = (runId: string) => worker.runs.claimRun(runId, leaseMs);

describe('runs that a restored database has as not sent', () => {
  it('are presumed sent: no worker submits them, and their keys stay used', async () => {
    const spaceId = await fixture.space({ inflightLimit: 3 });
    const running = await fixture.run('running', { spaceId, key: 'running' });
    const postponed = await fixture.run('submitting', { spaceId, key: 'postponed' });
    await worker.runs.postpone(postponed.runId, postponed.epoch, 0);
    const ready = await worker.run(spaceId, { key: 'ready' });
    const parked = await worker.run(spaceId, { key: 'parked' });
    const before = await fixture.written(running.runId);

    expect(await worker.outbox.unsentRuns()).toBe(3);
    expect(await worker.outbox.presumeSent()).toBe(3);
    expect(await worker.outbox.unsentRuns()).toBe(0);
    expect(await worker.outbox.presumeSent()).toBe(0);

    expect(await fixture.written(running.runId)).toEqual(before);
    expect(await worker.stageOf(parked)).toBe('parked');
    for (const runId of [postponed.runId, ready, parked]) {
      const claimed = await claim(runId);
      if (claimed.kind !== 'abandoned') throw new Error(`${runId} is ${claimed.kind}`);
      expect((await worker.finish(runId, claimed.epoch, unknown)).won).toBe(true);
    }
    const runs = { running: running.runId, postponed: postponed.runId, ready, parked };
    for (const [key, runId] of Object.entries(runs))
      expect(await worker.admit(spaceId, { key })).toMatchObject({ kind: 'existing', runId, matches: true });
    expect(await worker.outbox.drift()).toEqual([]);
  });

  it('cannot be withdrawn any more: a cancel is recorded, and the run stays to be ended', async () => {
    const { id } = await worker.workspace();
    const runId = await worker.run(id);
    await worker.outbox.presumeSent();
    expect(await worker.runs.requestCancel(id, 'tested/model', runId)).toMatchObject({
      found: 'dispatched',
    });
    expect((await claim(runId)).kind).toBe('abandoned');
  });
});
