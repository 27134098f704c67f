import { readSettings } from '#schemas';
import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { AttemptRepository } from '../attempt.repository.js';
import { ErasureRepository } from '../erasure.repository.js';
import { retentionSettings } from '../settings.js';
import { RetentionRepository } from '../retention.repository.js';
import { openRunFixture } from '../testing/run-fixture.js';

const fixture = await openRunFixture();
const periods = readSettings(retentionSettings, {});
const erasures = new ErasureRepository(fixture.first.database);
const erase = ({ spaceId, runId }: { spaceId: string; runId: string }) =>
  erasures.eraseRun(spaceId, runId, 'test');

/** The rounds of a worker whose clock is off. Returns the number of runs that it went through. */
async function eraseExpired(offset = '0'): Promise<number> {
  const retention = new RetentionRepository(fixture.at(offset).database, periods);
  let runs = 0;
  for (let batch = -1; batch !== 0; runs += batch) batch = await retention.eraseExpired();
  return runs;
}
const attempt = (runId: string) => ({
  runId,
  leftOut: 0,
  attempts: [
    {
      provider: 'bfl',
      phase: 'poll' as const,
      class: 'unreadable',
      reading: 'x',
      count: 1,
      firstAgoMs: 0,
      lastAgoMs: 0,
    },
  ],
});

describe('erase_run', () => {
  it('leaves the audit record and the ledger entry, and makes every object due', async () => {
    const run = await fixture.run('completed');
    await fixture.first.sql(
      `INSERT INTO stored_object (key, owner_id, delete_at, link_expires_at)
       VALUES ('runs/' || $1::text || '/assets/0.png', $1::uuid, 'infinity', router_now() + interval '1 day')`,
      [run.runId],
    );
    await new AttemptRepository(fixture.first.database).note([attempt(run.runId)]);
    const { audit, ledger } = await fixture.written(run.runId);
    expect(await erase(run)).toBe('erased');
    expect(await fixture.written(run.runId)).toMatchObject({
      run: null,
      payloads: null,
      audit,
      ledger,
      objects: [{ delete_at: expect.not.stringMatching('infinity') }],
    });
    expect(await fixture.first.storedObjects.takeOf(run.runId)).toHaveLength(1);
    expect(await fixture.first.sql('SELECT FROM run_attempts WHERE run_id = $1', [run.runId])).toEqual([]);
    expect(await erase(run)).toBe('erased');
  });

  it('does not touch a live run, a run of another workspace, or an unknown one', async () => {
    const live = await fixture.run('running');
    expect(await erase(live)).toBe('live');
    const run = await fixture.run('completed');
    expect(await erase({ ...run, spaceId: live.spaceId })).toBeNull();
    expect(await erase({ ...run, runId: '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234' })).toBeNull();
    expect(await fixture.written(run.runId)).toMatchObject({ run: { id: run.runId }, payloads: [{}, {}] });
    expect(await fixture.written(live.runId)).toMatchObject({ run: { id: live.runId } });
  });

  it('removes what a provider’s unexpected reply quoted, and later replies of the run quote nothing', async () => {
    const run = await fixture.run('completed');
    const surprise = { provider: 'erased', kind: 'unreadable' as const, count: 1, agoMs: 0, ...run };
    const note = (detail: string) =>
      fixture.first.surprises.note([{ ...surprise, detail, reply: `{"said":"${detail}"}` }]);
    const sample = async () =>
      (await fixture.first.surprises.list())
        .filter(({ provider }) => provider === 'erased')
        .map(({ count, detail, reply }) => [count, detail.includes('secret'), reply]);
    await note('secret');
    expect(await sample()).toEqual([[1, true, '{"said":"secret"}']]);
    await erase(run);
    expect(await sample()).toEqual([[1, false, null]]);
    await note('secret');
    expect(await sample()).toEqual([[2, false, null]]);
  });

  it('waits for a write of an attempt that began before it, and deletes that too', async () => {
    const run = await fixture.run('completed');
    const writing = new Client(fixture.database.url);
    await writing.connect();
    try {
      await writing.query('BEGIN');
      await writing.query('SELECT note_attempts($1)', [JSON.stringify([attempt(run.runId)])]);
      const erasing = erase(run);
      await writing.query('COMMIT');
      expect(await erasing).toBe('erased');
    } finally {
      await writing.end();
    }
    expect(await fixture.first.sql('SELECT FROM run_attempts WHERE run_id = $1', [run.runId])).toEqual([]);
  });
});

describe('erase_expired', () => {
  it('deletes the data of a workspace after its own period, and no other workspace’s', async () => {
    const [short, usual] = [await fixture.space({ resultRetentionSeconds: 3600 }), await fixture.space()];
    const runs = await Promise.all(
      [short, short, usual].map((spaceId) => fixture.run('completed', { spaceId })),
    );
    const live = await fixture.run('running', { spaceId: short });
    const left = async () => {
      const rows = await fixture.first.sql<{ id: string }>('SELECT id FROM run WHERE id = ANY ($1)', [
        [...runs, live].map(({ runId }) => runId),
      ]);
      return [...runs, live].map(({ runId }) => rows.some(({ id }) => id === runId));
    };
    expect(await eraseExpired('59 minutes')).toBe(0);
    expect(await left()).toEqual([true, true, true, true]);
    expect(await eraseExpired('61 minutes')).toBe(2);
    expect(await left()).toEqual([false, false, true, true]);
    expect(await eraseExpired('61 minutes')).toBe(0);
    expect(await fixture.at('61 minutes').runReader.input(short, runs[0]?.runId ?? '')).toBe('aged_out');
    // A run that ended later is due later.
    const later = await fixture.run('completed', { spaceId: short });
    expect(await eraseExpired('61 minutes')).toBe(1);
    expect(await fixture.written(later.runId)).toMatchObject({ run: null });
  });

  it('goes through all runs in batches, also if many ended at the same moment', async () => {
    const spaceId = await fixture.space({ resultRetentionSeconds: 60 });
    await fixture.first.sql(
      `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, status,
         caller_left, admitted_at, completed_at, cost_micros, billed_micros)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), 'token:x', 'a/b', 'a', 'POST', 'succeeded', 200, false, at, at, 0, 0
       FROM (SELECT router_now() - interval '1 hour' * (n / 300) - interval '2 minutes' AS at FROM generate_series(0, 899) AS n) AS times`,
      [spaceId],
    );
    expect(await eraseExpired()).toBe(900);
    expect(await eraseExpired()).toBe(0);
  });
});
