import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { leaseMs, openLife } from '../testing/life.js';
import { cancelled, cents, failed, succeeded, testModel, testProvider } from '../testing/runs.js';

const life = await openLife();

const asked = (spaceId: string, runId: string, by = life.first) =>
  by.answers.requestCancel(spaceId, testModel, runId);
const foundOf = async (spaceId: string, runId: string, by = life.first) => {
  const answer = await asked(spaceId, runId, by);
  return answer === null || answer === 'aged_out' ? answer : answer.found;
};
const outcomeOf = async (runId: string) => {
  const [row] = await life.first.sql<{ outcome: string | null; billed: number | null }>(
    'SELECT outcome, billed_micros::float AS billed FROM run WHERE id = $1',
    [runId],
  );
  return row;
};

describe('a cancellation that is asked for before the run is sent', () => {
  it.each([
    ['parked', async (spaceId: string) => life.first.run(spaceId, { key: 'parked' }), { inflightLimit: 0 }],
    ['ready', async (spaceId: string) => life.first.run(spaceId, { key: 'ready' }), {}],
    [
      'claimed',
      async (spaceId: string) => (await life.run('claimed', { spaceId, key: 'claimed' })).runId,
      {},
    ],
    [
      'refused by the partner',
      async (spaceId: string) => {
        const { runId, epoch } = await life.run('submitting', { spaceId, key: 'refused' });
        await life.first.dispatching.postpone(runId, epoch, 60_000);
        return runId;
      },
      {},
    ],
  ])('takes effect before its answer: %s', async (_what, make, limits) => {
    const spaceId = await life.space({ ...limits, balanceMicros: cents(10) });
    const before = await life.counters(spaceId);
    const runId = await make(spaceId);
    expect(await life.counters(spaceId)).not.toEqual(before);
    expect(await asked(spaceId, runId, life.second)).toMatchObject({
      found: 'waiting',
      granted: [],
      record: { outcome: 'cancelled', bucket: 'client_disconnected', billedMicros: 0 },
    });
    expect(await life.counters(spaceId)).toEqual(before);
    expect(await life.first.answers.result(spaceId, testModel, runId)).toMatchObject({
      stage: 'completed',
      outcome: 'cancelled',
      bucket: 'client_disconnected',
      status: 409,
      output: null,
    });
    expect(await life.written(runId)).toMatchObject({ outbox: null, ledger: null, keys: null });
    expect(await life.first.dispatching.claim(runId, leaseMs)).toMatchObject({ kind: 'gone' });
  });

  it('gives everything back once, however often it is asked for', async () => {
    const spaceId = await life.space({ balanceMicros: cents(10) });
    const before = await life.counters(spaceId);
    const runId = await life.first.run(spaceId);
    const found = await Promise.all(
      Array.from({ length: 8 }, (_, index) => foundOf(spaceId, runId, index % 2 ? life.first : life.second)),
    );
    expect(found.filter((each) => each === 'waiting')).toHaveLength(1);
    expect(found.filter((each) => each === 'completed')).toHaveLength(7);
    expect(await life.counters(spaceId)).toEqual(before);
  });

  it('passes the slot on', async () => {
    const spaceId = await life.space({ inflightLimit: 1 });
    const first = await life.first.run(spaceId);
    const parked = await life.first.run(spaceId);
    expect(await asked(spaceId, first)).toMatchObject({
      found: 'waiting',
      granted: [{ runId: parked, provider: testProvider }],
    });
    expect(await life.second.take(parked, 'claimed')).toBe(1);
  });
});

describe('a cancellation that is asked for after the run was sent', () => {
  it.each(['submitting', 'running', 'copying'] as const)('is written down, once: %s', async (stage) => {
    const { runId, spaceId } = await life.run(stage);
    expect(await asked(spaceId, runId)).toEqual({ found: 'dispatched', isRepeated: false, granted: [] });
    const before = await life.written(runId);
    expect(before['run']).toMatchObject({ cancel_requested_at: expect.any(String), outcome: null });
    expect(await asked(spaceId, runId, life.second)).toEqual({
      found: 'dispatched',
      isRepeated: true,
      granted: [],
    });
    expect(await life.written(runId)).toEqual(before);
  });

  it('leaves the result of a partner that did not heed it, which is billed', async () => {
    const { runId, spaceId, epoch } = await life.run('running');
    await asked(spaceId, runId);
    expect((await life.second.dispatching.finish(runId, epoch, succeeded)).won).toBe(true);
    expect(await outcomeOf(runId)).toEqual({ outcome: 'succeeded', billed: cents(1) });
    expect(await foundOf(spaceId, runId)).toBe('completed');
  });

  it('ends as cancelled, for nothing, when the partner says so; its key stays with it', async () => {
    const { runId, spaceId, epoch } = await life.run('running', { key: 'stopped' });
    await asked(spaceId, runId);
    expect((await life.second.dispatching.finish(runId, epoch, cancelled)).won).toBe(true);
    expect(await outcomeOf(runId)).toEqual({ outcome: 'cancelled', billed: 0 });
    expect((await life.written(runId))['keys']).toHaveLength(1);
  });

  it('comes too late once the run has its outcome, and changes nothing', async () => {
    for (const ending of [succeeded, failed('provider_error'), cancelled]) {
      const { runId, spaceId, epoch } = await life.run('running');
      await life.second.dispatching.finish(runId, epoch, ending);
      const before = await life.written(runId);
      expect(await asked(spaceId, runId)).toEqual({ found: 'completed', granted: [] });
      expect(await life.written(runId)).toEqual(before);
    }
  });
});

it('finds no run of another workspace, under another model, or that never was', async () => {
  const { runId, spaceId } = await life.run('claimed');
  const before = await life.written(runId);
  expect(await asked(await life.space(), runId)).toBeNull();
  expect(await life.first.answers.requestCancel(spaceId, 'tested/other', runId)).toBeNull();
  expect(await asked(spaceId, v7())).toBeNull();
  expect(await life.written(runId)).toEqual(before);
});
