import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { openRunFixture } from '../testing/run-fixture.js';
import { cancelled, cents, failed, succeeded, testModel, testProvider } from '../testing/runs.js';

const fixture = await openRunFixture();

const asked = (spaceId: string, runId: string, by = fixture.first) =>
  by.runs.requestCancel(spaceId, testModel, runId);
const foundOf = async (spaceId: string, runId: string, by = fixture.first) => {
  const answer = await asked(spaceId, runId, by);
  return answer === null || answer === 'aged_out' ? answer : answer.found;
};
const outcomeOf = async (runId: string) => {
  const [row] = await fixture.first.sql<{ outcome: string | null; billed: number | null }>(
    'SELECT outcome, billed_micros::float AS billed FROM run WHERE id = $1',
    [runId],
  );
  return row;
};

describe('a cancellation that is requested before the run is sent', () => {
  it.each([
    [
      'parked',
      async (spaceId: string) => fixture.first.run(spaceId, { key: 'parked' }),
      { inflightLimit: 0 },
    ],
    ['ready', async (spaceId: string) => fixture.first.run(spaceId, { key: 'ready' }), {}],
    [
      'claimed',
      async (spaceId: string) => (await fixture.run('claimed', { spaceId, key: 'claimed' })).runId,
      {},
    ],
    [
      'rejected by the provider',
      async (spaceId: string) => {
        const { runId, epoch } = await fixture.run('submitting', { spaceId, key: 'refused' });
        await fixture.first.dispatch.postpone(runId, epoch, 60_000);
        return runId;
      },
      {},
    ],
  ])('takes effect before its answer: %s', async (_what, make, limits) => {
    const spaceId = await fixture.space({ ...limits, balanceMicros: cents(10) });
    const before = await fixture.counters(spaceId);
    const runId = await make(spaceId);
    expect(await fixture.counters(spaceId)).not.toEqual(before);
    expect(await asked(spaceId, runId, fixture.second)).toMatchObject({
      found: 'waiting',
      granted: [],
      record: { outcome: 'cancelled', bucket: 'client_disconnected', billedMicros: 0 },
    });
    expect(await fixture.counters(spaceId)).toEqual(before);
    expect(await fixture.first.runReader.result(spaceId, testModel, runId)).toMatchObject({
      stage: 'completed',
      outcome: 'cancelled',
      bucket: 'client_disconnected',
      status: 409,
      output: null,
    });
    expect(await fixture.written(runId)).toMatchObject({ outbox: null, ledger: null, keys: null });
    expect(await fixture.claim(runId)).toBeNull();
  });

  it('gives everything back once, however often it is requested', async () => {
    const spaceId = await fixture.space({ balanceMicros: cents(10) });
    const before = await fixture.counters(spaceId);
    const runId = await fixture.first.run(spaceId);
    const found = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        foundOf(spaceId, runId, index % 2 ? fixture.first : fixture.second),
      ),
    );
    expect(found.filter((each) => each === 'waiting')).toHaveLength(1);
    expect(found.filter((each) => each === 'completed')).toHaveLength(7);
    expect(await fixture.counters(spaceId)).toEqual(before);
  });

  it('passes on the slot', async () => {
    const spaceId = await fixture.space({ inflightLimit: 1 });
    const first = await fixture.first.run(spaceId);
    const parked = await fixture.first.run(spaceId);
    expect(await asked(spaceId, first)).toMatchObject({
      found: 'waiting',
      granted: [{ runId: parked, provider: testProvider }],
    });
    expect(await fixture.second.take(parked, 'claimed')).toBe(1);
  });
});

describe('a cancellation that is requested after the run was sent', () => {
  it.each(['submitting', 'running', 'copying'] as const)('is recorded once: %s', async (stage) => {
    const { runId, spaceId } = await fixture.run(stage);
    expect(await asked(spaceId, runId)).toEqual({ found: 'dispatched', isRepeated: false, granted: [] });
    const before = await fixture.written(runId);
    expect(before['run']).toMatchObject({ cancel_requested_at: expect.any(String), outcome: null });
    expect(await asked(spaceId, runId, fixture.second)).toEqual({
      found: 'dispatched',
      isRepeated: true,
      granted: [],
    });
    expect(await fixture.written(runId)).toEqual(before);
  });

  it('keeps and bills the result of a provider that did not act on it', async () => {
    const { runId, spaceId, epoch } = await fixture.run('running');
    await asked(spaceId, runId);
    expect((await fixture.second.finish(runId, epoch, succeeded)).won).toBe(true);
    expect(await outcomeOf(runId)).toEqual({ outcome: 'succeeded', billed: cents(1) });
    expect(await foundOf(spaceId, runId)).toBe('completed');
  });

  it('ends the run as cancelled, without a bill, when the provider says so; the key stays used', async () => {
    const { runId, spaceId, epoch } = await fixture.run('running', { key: 'stopped' });
    await asked(spaceId, runId);
    expect((await fixture.second.finish(runId, epoch, cancelled)).won).toBe(true);
    expect(await outcomeOf(runId)).toEqual({ outcome: 'cancelled', billed: 0 });
    expect((await fixture.written(runId))['keys']).toHaveLength(1);
  });

  it('comes too late once the run has an outcome, and changes nothing', async () => {
    for (const ending of [succeeded, failed('provider_error'), cancelled]) {
      const { runId, spaceId, epoch } = await fixture.run('running');
      await fixture.second.finish(runId, epoch, ending);
      const before = await fixture.written(runId);
      expect(await asked(spaceId, runId)).toEqual({ found: 'completed', granted: [] });
      expect(await fixture.written(runId)).toEqual(before);
    }
  });
});

it('finds no run of another workspace or model, and no unknown run', async () => {
  const { runId, spaceId } = await fixture.run('claimed');
  const before = await fixture.written(runId);
  expect(await asked(await fixture.space(), runId)).toBeNull();
  expect(await fixture.first.runs.requestCancel(spaceId, 'tested/other', runId)).toBeNull();
  expect(await asked(spaceId, v7())).toBeNull();
  expect(await fixture.written(runId)).toEqual(before);
});
