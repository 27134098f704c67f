import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { type Attempt, AttemptRepository, type NotedAttempt } from './attempt.repository.js';
import { openRunFixture } from './testing/run-fixture.js';

const fixture = await openRunFixture();
const attempts = new AttemptRepository(fixture.first.database);
const other = new AttemptRepository(fixture.second.database);

const made = (status: number, more: Partial<NotedAttempt> = {}): NotedAttempt => ({
  provider: 'fal',
  phase: 'poll',
  status,
  class: 'provider_failed',
  retry: 'same_call',
  reading: `poll answered HTTP ${status}`,
  count: 1,
  firstAgoMs: 0,
  lastAgoMs: 0,
  ...more,
});
const note = (runId: string, all: readonly NotedAttempt[], leftOut = 0, by = attempts) =>
  by.note([{ runId, leftOut, attempts: all }]);
const failingAll = (runIds: string[]) =>
  runIds.map((runId) => ({ runId, leftOut: 0, attempts: [made(500)] }));
const shown = async (runId: string) =>
  (await attempts.of(runId)).attempts.map(({ status, count }) => [status, count]);
const spanMs = ({ at, lastAt }: { at: string; lastAt: string }) => Date.parse(lastAt) - Date.parse(at);

describe('attempts of a run', () => {
  it('are kept as noted, with the times by the clock of the database', async () => {
    const { runId } = await fixture.run('running');
    const attempt: Attempt = {
      provider: 'fal',
      phase: 'submit',
      status: 401,
      class: 'provider_account',
      retry: 'never',
      reading: 'The provider rejected our key.',
      requestId: 'req-1',
      reply: 'NUL \0 and a half \uD83D character',
    };
    await note(runId, [{ ...attempt, count: 1, firstAgoMs: 61_000, lastAgoMs: 1000 }]);
    const { attempts: found, leftOut } = await attempts.of(runId);
    expect({ found, leftOut }).toEqual({
      found: [
        {
          ...attempt,
          reply: 'NUL \uFFFD and a half \uFFFD character',
          count: 1,
          at: expect.any(String),
          lastAt: expect.any(String),
        },
      ],
      leftOut: 0,
    });
    expect(found.map(spanMs)).toEqual([60_000]);
  });

  it('that are equal and consecutive become one, with the newest reply', async () => {
    const { runId } = await fixture.run('running');
    await note(runId, [made(500, { firstAgoMs: 300_000, lastAgoMs: 270_000, count: 30, reply: 'a' })]);
    await note(runId, [made(500, { count: 29, firstAgoMs: 29_000, reply: 'b', requestId: 'req-2' })]);
    await note(runId, [made(503), made(503), made(500)]);
    const { attempts: found } = await attempts.of(runId);
    expect(found.map(({ status, count, reply, requestId }) => [status, count, reply, requestId])).toEqual([
      [500, 59, 'b', 'req-2'],
      [503, 2, undefined, undefined],
      [500, 1, undefined, undefined],
    ]);
    expect(found[0] && spanMs(found[0])).toBeGreaterThanOrEqual(300_000);
  });

  it('are the first ten and the last ten; those between are counted', async () => {
    const { runId } = await fixture.run('running');
    const statuses = Array.from({ length: 25 }, (_, nth) => 500 + nth);
    for (const status of statuses) await note(runId, [made(status, { count: 2 })]);
    expect(await shown(runId)).toEqual(
      [...statuses.slice(0, 10), ...statuses.slice(15)].map((each) => [each, 2]),
    );
    expect((await attempts.of(runId)).leftOut).toBe(10);
    await note(runId, [made(600)], 7);
    expect((await attempts.of(runId)).leftOut).toBe(19);
  });

  it('are all kept if two workers write at once', async () => {
    const runs = [await fixture.run('running'), await fixture.run('running')].map(({ runId }) => runId);
    await Promise.all(
      Array.from({ length: 20 }, (_, nth) =>
        nth % 2 === 0 ? attempts.note(failingAll(runs)) : other.note(failingAll(runs.toReversed())),
      ),
    );
    for (const runId of runs) expect(await shown(runId)).toEqual([[500, 20]]);
  });

  it('do not wait for, nor delay, a transaction that ends the run', async () => {
    const { runId } = await fixture.run('running');
    await fixture.second.database.transaction(async ({ query }) => {
      await query('UPDATE run SET progress = 0.5 WHERE id = $1', [runId]);
      await note(runId, [made(500)]);
    });
    await fixture.second.database.transaction(async ({ query }) => {
      await query('SELECT note_attempts($1)', [
        JSON.stringify([{ runId, leftOut: 0, attempts: [made(500)] }]),
      ]);
      await fixture.first.sql('UPDATE run SET progress = 0.6 WHERE id = $1', [runId]);
    });
    expect(await shown(runId)).toEqual([[500, 2]]);
  });
});

it('a run without attempts has no row', async () => {
  const { runId } = await fixture.run('completed');
  expect(await attempts.of(runId)).toEqual({ attempts: [], leftOut: 0 });
  expect(await fixture.first.sql('SELECT FROM run_attempts WHERE run_id = $1', [runId])).toEqual([]);
});

it('attempts are deleted when the result expires, and a late write leaves none behind', async () => {
  const { runId } = await fixture.run('completed');
  await note(runId, [made(500)]);
  await fixture.at('23 hours').retention.deleteOld('run_attempts');
  expect(await shown(runId)).toEqual([[500, 1]]);
  await fixture.at('25 hours').retention.deleteOld('run_attempts');
  expect(await shown(runId)).toEqual([]);
  await fixture.at('4 days').retention.ageOut();
  await note(runId, [made(500)]);
  await note(v7(), [made(500)]);
  expect(await fixture.first.sql('SELECT FROM run_attempts WHERE run_id = $1', [runId])).toEqual([]);
});

it('the newest attempts of a provider come first, one of each run', async () => {
  const runs = [await fixture.run('running'), await fixture.run('running'), await fixture.run('running')];
  const provider = `p-${v7()}`;
  for (const { runId } of runs) await note(runId, [made(500, { provider: 'fal' }), made(502, { provider })]);
  const [oldest, middle, newest] = runs.map(({ runId }) => runId);
  expect((await attempts.newestOf(provider, 2)).map(({ runId, attempt }) => [runId, attempt.status])).toEqual(
    [
      [newest, 502],
      [middle, 502],
    ],
  );
  await note(oldest ?? '', [made(503, { provider })]);
  expect((await attempts.newestOf(provider, 1)).map(({ runId }) => runId)).toEqual([oldest]);
});

it('inputs are read by run; those in the asset store are left out', async () => {
  const { runId } = await fixture.run('running', { body: Buffer.from('{"prompt":"x"}') });
  const stored = await fixture.run('running');
  await fixture.first.sql(`UPDATE payload SET body = NULL, stored_as = 'runs/x' WHERE run_id = $1`, [
    stored.runId,
  ]);
  const found = await attempts.inputsOf([runId, stored.runId, v7()]);
  expect([...found.keys()]).toEqual([runId]);
  expect(String(found.get(runId))).toBe('{"prompt":"x"}');
});
