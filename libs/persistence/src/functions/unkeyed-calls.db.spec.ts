import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { processName } from '../processes.js';
import type { Ending } from '../run-facts.js';
import { leaseMs, openRunFixture } from '../testing/run-fixture.js';
import { failed, succeeded } from '../testing/runs.js';

const fixture = await openRunFixture();
const { first, second } = fixture;

/** The listening session of a running gateway. */
const session = new Client({
  connectionString: fixture.database.url,
  connectionTimeoutMillis: 20_000,
  application_name: processName,
});
// The database is dropped under it.
session.on('error', () => {});
beforeAll(() => session.connect());
afterAll(() => session.end());

const fingerprint = '0b';
const call = (spaceId: string, heldBy = processName, attempt?: number) =>
  second.admit(spaceId, { mode: 'sync', fingerprint, heldBy, ...(attempt !== undefined && { attempt }) });

/** A run that reached its provider, of a call without a key. */
async function sent(heldBy = processName) {
  const spaceId = await fixture.space();
  const runId = await first.run(spaceId, { mode: 'sync', fingerprint, heldBy });
  const epoch = await first.take(runId, 'submitting', leaseMs);
  return { spaceId, runId, finish: (ending: Ending = succeeded) => first.finish(runId, epoch, ending) };
}
const joins = (runId: string) => ({ kind: 'existing', runId, matches: true, delivered: false });
const isNew = expect.objectContaining({ kind: 'admitted' });

describe('an equal call without a key', () => {
  it('begins another run while the connection of the first one is open, and after its result was delivered', async () => {
    const { spaceId, runId, finish } = await sent();
    expect(await call(spaceId)).toEqual(isNew);
    await finish();
    expect(await call(spaceId)).toEqual(isNew);
    await first.heldRuns.forgetUnkeyed(runId);
    expect(await call(spaceId)).toEqual(isNew);
  });

  it('joins the run whose caller is gone, once', async () => {
    const { spaceId, runId, finish } = await sent();
    await first.heldRuns.releaseRun(runId, true);
    const other = second.admit(spaceId, { mode: 'sync', fingerprint: '0c', heldBy: processName });
    expect(await other).toEqual(isNew);
    expect(await call(await fixture.space())).toEqual(isNew);
    expect(await call(spaceId)).toEqual(joins(runId));
    expect(await call(spaceId)).toEqual(isNew);
    await finish();
    await first.heldRuns.leaveUnkeyed(spaceId, fingerprint, runId);
    expect(await call(spaceId)).toEqual(joins(runId));
  });

  it('joins the run of a gateway that was killed', async () => {
    const { spaceId, runId } = await sent('model-router killed');
    expect(await call(spaceId)).toEqual(joins(runId));
    expect(await call(spaceId)).toEqual(isNew);
  });

  it('joins for a minute after the end of the run', async () => {
    const { spaceId, runId, finish } = await sent();
    await first.heldRuns.releaseRun(runId, true);
    await finish();
    const later = (offset: string) =>
      fixture.at(offset).admit(spaceId, { mode: 'sync', fingerprint, heldBy: processName });
    expect(await later('2 minutes')).toEqual(isNew);
    expect(await later('30 seconds')).toEqual(joins(runId));
  });

  it('gets a result again whose delivery was taken back', async () => {
    const { spaceId, runId, finish } = await sent();
    await finish();
    await first.heldRuns.forgetUnkeyed(runId);
    await first.heldRuns.leaveUnkeyed(spaceId, fingerprint, runId);
    expect(await call(spaceId)).toEqual(joins(runId));
  });

  it('gets a failure again, unless its client counts on', async () => {
    const { spaceId, runId, finish } = await sent();
    await finish(failed('provider_error'));
    const failing = (attempt: number) => first.heldRuns.leaveUnkeyed(spaceId, fingerprint, runId, attempt);
    await failing(1);
    expect(await call(spaceId, processName, 2)).toEqual(isNew);
    for (const attempt of [1, 0, undefined]) {
      await failing(1);
      expect(await call(spaceId, processName, attempt)).toEqual(joins(runId));
    }
  });

  it.each([
    ['was not sent', async (runId: string) => void (await first.heldRuns.releaseRun(runId, true))],
    [
      'may be repeated',
      async (runId: string) => {
        const epoch = await first.take(runId, 'submitting', leaseMs);
        await first.heldRuns.releaseRun(runId, true);
        await first.finish(runId, epoch, failed('service_unavailable'));
      },
    ],
    [
      'was cancelled',
      async (runId: string, spaceId: string) => {
        await first.take(runId, 'submitting', leaseMs);
        await first.heldRuns.releaseRun(runId, true);
        await first.runs.requestCancel(spaceId, 'tested/model', runId);
      },
    ],
  ])('begins another run if the first one %s', async (_what, end) => {
    const spaceId = await fixture.space();
    const runId = await first.run(spaceId, { mode: 'sync', fingerprint, heldBy: processName });
    await end(runId, spaceId);
    expect(await call(spaceId)).toEqual(isNew);
  });

  it('leaves a stream to the end of the provider unless its answer had begun', async () => {
    const facts = { streams: { isLive: true } };
    const cancelledAt = async (isAnswerBegun: boolean) => {
      const { runId } = await sent();
      await first.sql('UPDATE run SET facts = facts || $2::jsonb WHERE id = $1', [runId, facts]);
      if (isAnswerBegun) await first.heldRuns.forgetUnkeyed(runId);
      await first.heldRuns.releaseRun(runId, true);
      return ((await fixture.written(runId))['run'] as { cancel_requested_at: unknown }).cancel_requested_at;
    };
    expect(await cancelledAt(false)).toBeNull();
    expect(await cancelledAt(true)).not.toBeNull();
  });

  it('is forgotten after a day', async () => {
    const { runId } = await sent();
    await fixture.at('23 hours').retention.deleteOld('unkeyed_call');
    const rows = () => first.sql('SELECT FROM unkeyed_call WHERE run_id = $1', [runId]);
    expect(await rows()).toHaveLength(1);
    await fixture.at('25 hours').retention.deleteOld('unkeyed_call');
    expect(await rows()).toEqual([]);
  });
});
