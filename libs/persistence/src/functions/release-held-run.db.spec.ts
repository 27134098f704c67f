import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { leaseMs, openRunFixture } from '../testing/run-fixture.js';
import { cents, succeeded, testModel, testPollMs, testProvider } from '../testing/runs.js';

const fixture = await openRunFixture();

const release = (runId: string, disconnected = true) =>
  fixture.second.heldRuns.releaseRun(runId, disconnected);

describe('a held call whose caller hangs up', () => {
  it.each([
    ['ready', async (spaceId: string) => fixture.first.run(spaceId, { mode: 'sync' })],
    ['claimed', async (spaceId: string) => (await fixture.run('claimed', { spaceId, mode: 'sync' })).runId],
    [
      'rejected by the provider',
      async (spaceId: string) => {
        const { runId, epoch } = await fixture.run('submitting', { spaceId, mode: 'sync' });
        await fixture.first.dispatch.postpone(runId, epoch, 60_000);
        return runId;
      },
    ],
  ])('withdraws its run if that was not sent and could not be collected: %s', async (_what, make) => {
    const spaceId = await fixture.space({ balanceMicros: cents(10) });
    const before = await fixture.counters(spaceId);
    const runId = await make(spaceId);
    expect(await release(runId)).toMatchObject({
      found: 'withdrawn',
      granted: [],
      record: { delivery: 'sync', outcome: 'cancelled', billedMicros: 0 },
    });
    expect(await fixture.counters(spaceId)).toEqual(before);
    expect(await fixture.written(runId)).toMatchObject({
      run: { outcome: 'cancelled', bucket: 'client_disconnected', caller_left_at: expect.any(String) },
      audit: { outcome: 'cancelled', caller_left: true, billed_micros: 0 },
      outbox: null,
      ledger: null,
    });
    expect(await fixture.claim(runId)).toBeNull();
  });

  it('passes on the slot of a withdrawn run', async () => {
    const spaceId = await fixture.space({ inflightLimit: 1 });
    const held = await fixture.first.run(spaceId, { mode: 'sync' });
    const parked = await fixture.first.run(spaceId);
    expect(await release(held)).toMatchObject({ granted: [{ runId: parked, provider: testProvider }] });
  });

  it('keeps a run with a key, by which it can be collected', async () => {
    const { runId, epoch, spaceId } = await fixture.run('claimed', { mode: 'sync', key: 'kept' });
    expect(await release(runId)).toEqual({ found: 'going_on', granted: [], pollAfterMs: null });
    expect(await fixture.first.dispatch.beginSubmission(runId, epoch, leaseMs)).toBe(true);
    await fixture.first.finish(runId, epoch, succeeded);
    expect(await fixture.first.admit(spaceId, { key: 'kept' })).toMatchObject({ kind: 'existing', runId });
    expect((await fixture.written(runId))['audit']).toMatchObject({
      outcome: 'succeeded',
      caller_left: true,
    });
  });

  it('keeps a run that was sent, with or without a key: it continues and is billed', async () => {
    const { runId, epoch } = await fixture.run('submitting', { mode: 'sync' });
    expect(await release(runId)).toEqual({ found: 'going_on', granted: [], pollAfterMs: null });
    await fixture.first.runs.saveHandle(runId, epoch, {}, testPollMs);
    expect(await release(runId)).toEqual({ found: 'going_on', granted: [], pollAfterMs: testPollMs });
    expect((await fixture.first.finish(runId, epoch, succeeded)).won).toBe(true);
    expect(await fixture.written(runId)).toMatchObject({
      audit: { outcome: 'succeeded', caller_left: true, billed_micros: cents(1) },
      ledger: [{ amount_micros: -cents(1) }],
    });
  });

  it('records the time of the first disconnect', async () => {
    const { runId } = await fixture.run('running', { mode: 'sync' });
    await release(runId);
    const before = await fixture.written(runId);
    await release(runId);
    expect(await fixture.written(runId)).toEqual(before);
  });
});

describe('a held call that times out', () => {
  it('also withdraws its run, but records no disconnect', async () => {
    const { runId } = await fixture.run('claimed', { mode: 'sync' });
    expect(await release(runId, false)).toMatchObject({ found: 'withdrawn' });
    expect((await fixture.written(runId))['audit']).toMatchObject({
      outcome: 'cancelled',
      caller_left: false,
    });
  });

  it('returns how long to wait for a run that continues, and changes nothing', async () => {
    const { runId } = await fixture.run('running', { mode: 'sync' });
    const before = await fixture.written(runId);
    expect(await release(runId, false)).toEqual({ found: 'going_on', granted: [], pollAfterMs: testPollMs });
    expect(await fixture.written(runId)).toEqual(before);
  });
});

it('a held call that stops waiting after the outcome finds the outcome and changes nothing', async () => {
  const { runId } = await fixture.run('completed', { mode: 'sync' });
  const before = await fixture.written(runId);
  expect(await release(runId)).toEqual({ found: 'completed', granted: [] });
  expect(await release(runId, false)).toEqual({ found: 'completed', granted: [] });
  expect(await fixture.written(runId)).toEqual(before);
});

it('only one of several concurrent disconnects withdraws the run', async () => {
  const spaceId = await fixture.space({ balanceMicros: cents(10) });
  const before = await fixture.counters(spaceId);
  const runId = await fixture.first.run(spaceId, { mode: 'sync' });
  const found = (await Promise.all(Array.from({ length: 6 }, () => release(runId)))).map(
    (each) => each.found,
  );
  expect(found.toSorted()).toEqual([...Array.from({ length: 5 }, () => 'completed'), 'withdrawn']);
  expect(await fixture.counters(spaceId)).toEqual(before);
});

it('an unknown run cannot be released', async () => {
  await expect(release(v7())).rejects.toThrow('query returned no rows');
});

describe('the held calls of a gateway', () => {
  it('record that a result was delivered in full, for the run of the key', async () => {
    const { runId, spaceId } = await fixture.run('completed', { mode: 'sync', key: 'delivered' });
    const delivered = async () => {
      const answer = await fixture.first.admit(spaceId, { key: 'delivered' });
      return answer.kind === 'existing' && answer.delivered;
    };
    await fixture.second.heldRuns.countDelivery(spaceId, 'delivered', v7(), 1);
    await fixture.second.heldRuns.countDelivery(await fixture.space(), 'delivered', runId, 1);
    expect(await delivered()).toBe(false);
    await fixture.second.heldRuns.countDelivery(spaceId, 'delivered', runId, 1);
    expect(await delivered()).toBe(true);
    expect(await fixture.first.runReader.result(spaceId, testModel, runId)).toMatchObject({
      outcome: 'succeeded',
    });
  });

  it('take back an interrupted delivery, but not another caller’s', async () => {
    const { runId, spaceId } = await fixture.run('completed', { mode: 'sync', key: 'broken' });
    const delivered = async () => {
      const answer = await fixture.first.admit(spaceId, { key: 'broken' });
      return answer.kind === 'existing' && answer.delivered;
    };
    await fixture.first.heldRuns.countDelivery(spaceId, 'broken', runId, 1);
    await fixture.second.heldRuns.countDelivery(spaceId, 'broken', runId, 1);
    await fixture.first.heldRuns.countDelivery(spaceId, 'broken', v7(), -1);
    await fixture.first.heldRuns.countDelivery(spaceId, 'broken', runId, -1);
    expect(await delivered()).toBe(true);
    await fixture.second.heldRuns.countDelivery(spaceId, 'broken', runId, -1);
    expect(await delivered()).toBe(false);
    await fixture.second.heldRuns.countDelivery(spaceId, 'broken', runId, -1);
    await fixture.second.heldRuns.countDelivery(spaceId, 'broken', runId, 1);
    expect(await delivered()).toBe(true);
  });
});
