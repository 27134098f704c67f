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

describe('runs that are not marked as sent in a restored database', () => {
  it('are presumed sent: no worker submits them, and their keys stay used', async () => {
    const spaceId = await fixture.space({ inflightLimit: 3 });
    const running = await fixture.run('running', { spaceId, key: 'running' });
    const postponed = await fixture.run('submitting', { spaceId, key: 'postponed' });
    await worker.dispatch.postpone(postponed.runId, postponed.epoch, 0);
    const ready = await worker.run(spaceId, { key: 'ready' });
    const parked = await worker.run(spaceId, { key: 'parked' });
    const ended: string[] = [];
    const before = await fixture.written(running.runId);

    expect(await worker.outbox.unsentRuns()).toBe(3);
    expect(await worker.outbox.presumeSent()).toBe(3);
    expect(await worker.outbox.unsentRuns()).toBe(0);
    expect(await worker.outbox.presumeSent()).toBe(0);

    expect(await fixture.written(running.runId)).toEqual(before);
    expect(await worker.stageOf(parked)).toBe('parked');
    // The parked run gets its slot when another run ends.
    for (let round = 1; round <= 2; round += 1) {
      for (const runId of [postponed.runId, ready, parked]) expect(await fixture.claim(runId)).toBeNull();
      for (const run of await worker.dispatch.sweep(10_000, leaseMs)) {
        expect(run).toMatchObject({ kind: 'abandoned' });
        ended.push(run.runId);
        expect((await worker.runs.finishRun(run, unknown)).won).toBe(true);
      }
    }
    expect(ended.toSorted()).toEqual([postponed.runId, ready, parked].toSorted());
    const runs = { running: running.runId, postponed: postponed.runId, ready, parked };
    for (const [key, runId] of Object.entries(runs))
      expect(await worker.admit(spaceId, { key })).toMatchObject({ kind: 'existing', runId, matches: true });
    expect(await worker.outbox.drift()).toEqual([]);
  });

  it('can no longer be withdrawn: a cancel is only recorded, and a worker ends the run', async () => {
    const { id } = await worker.workspace();
    const runId = await worker.run(id);
    await worker.outbox.presumeSent();
    expect(await worker.runs.requestCancel(id, 'tested/model', runId)).toMatchObject({
      found: 'dispatched',
    });
    expect(await fixture.swept(runId)).toMatchObject({ kind: 'abandoned' });
  });

  it('end even while their provider is paused, parked ones when they get a slot', async () => {
    const provider = 'restored';
    const spaceId = await fixture.space({ inflightLimit: 3 });
    const waiting = await worker.run(spaceId, { provider });
    const putOff = await fixture.run('submitting', { spaceId, provider });
    await worker.dispatch.postpone(putOff.runId, putOff.epoch, 3_600_000);
    const lapsed = await fixture.run('claimed', { spaceId, provider, by: fixture.at('-2 hours') });
    const parked = await worker.run(spaceId, { provider });
    await worker.outbox.presumeSent();
    await worker.pauses.pause(provider, 'maintenance', 'test');
    await worker.pauses.pauseFor(provider, 'submit', 3_600_000, 'HTTP 429');
    const endedBySweep = async () => {
      const swept = await worker.dispatch.sweep(10_000, leaseMs);
      for (const run of swept) expect((await worker.runs.finishRun(run, unknown)).won).toBe(true);
      return swept.map(({ kind, runId }) => `${kind} ${runId}`).toSorted();
    };
    expect(await endedBySweep()).toEqual(
      [waiting, putOff.runId, lapsed.runId].map((runId) => `abandoned ${runId}`).toSorted(),
    );
    expect(await endedBySweep()).toEqual([`abandoned ${parked}`]);
    expect(await worker.outbox.drift()).toEqual([]);
  });
});
