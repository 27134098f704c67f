import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { ProviderCheckRepository } from './provider-check.repository.js';
import type { PoolKey } from './provider-key.repository.js';
import { leaseMs, openRunFixture } from './testing/run-fixture.js';
import { succeeded, type TestProcess } from './testing/runs.js';

const fixture = await openRunFixture();
const hourMs = 3_600_000;

/** Two keys by default. */
const key = (name: string, terms: Partial<PoolKey> = {}): PoolKey => ({ name, weight: 1, ...terms });

/** A new provider with reported keys, and runs that wait for it. */
async function pooled(pool: PoolKey[], runs: number): Promise<string> {
  const provider = `p${v7()}`;
  await fixture.first.keys.report(pool.map((each) => ({ ...each, provider })));
  const spaceId = await fixture.space();
  for (let count = 0; count < runs; count += 1) await fixture.first.run(spaceId, { provider });
  return provider;
}

const take = (provider: string, pool: PoolKey[], most = 1_000, by = fixture.first) =>
  by.dispatch.takeRuns(provider, { held: new Map(), maxHeld: 1_000, most, leaseMs, pool });

/** How many runs were taken with each key. */
const byKey = (runs: readonly { keyName: string | null }[]) => {
  const counts: Record<string, number> = {};
  for (const { keyName } of runs) counts[String(keyName)] = (counts[String(keyName)] ?? 0) + 1;
  return counts;
};

const stateOf = async (provider: string, name: string, by = fixture.first) =>
  (await by.keys.list()).find((each) => each.provider === provider && each.name === name);

describe('a pool of keys', () => {
  it('submits runs by weight, and none with a key that drains or is not reported', async () => {
    const pool = [key('a', { weight: 3 }), key('b'), key('c', { weight: 0 })];
    const provider = await pooled(pool, 400);
    const counts = byKey(await take(provider, [...pool, key('new')]));
    expect(Object.keys(counts).toSorted()).toEqual(['a', 'b']);
    // Seven standard deviations from 300.
    expect(counts['a']).toBeGreaterThan(240);
    expect(counts['a']).toBeLessThan(360);
  });

  it('remembers the key of a run from its claim on, and forgets it when the run is claimed without one', async () => {
    const pool = [key('a')];
    const provider = await pooled(pool, 1);
    const [run] = await take(provider, pool);
    const { runId = '', epoch = 0 } = run ?? {};
    expect(run).toMatchObject({ keyName: 'a' });
    expect(await fixture.first.runs.readForPoll(runId)).toMatchObject({ providerKey: 'a' });
    await fixture.first.dispatch.postpone(runId, epoch, 0);
    expect(await fixture.claim(runId)).not.toBeNull();
    expect(await fixture.first.runs.readForPoll(runId)).toMatchObject({ providerKey: null });
  });

  it('keeps to the submissions per minute of each key, across workers', async () => {
    const pool = [key('a', { perMinute: 10 }), key('b', { perMinute: 10 })];
    const provider = await pooled(pool, 70);
    const minute = async (offset: string) => {
      const workers: TestProcess[] = [fixture.at(offset), fixture.at(offset), fixture.second];
      const [one, other] = await Promise.all(
        workers
          .slice(0, 2)
          .map((by) => Promise.all([1, 7, 30].map((most) => take(provider, pool, most, by)))),
      );
      return byKey([one, other].flat(2).flatMap((run) => run ?? []));
    };
    expect(await minute('0 seconds')).toEqual({ a: 10, b: 10 });
    expect(await minute('30 seconds')).toEqual({});
    expect(await minute('55 seconds')).toEqual({});
    expect(await minute('90 seconds')).toEqual({ a: 10, b: 10 });
    expect(await minute('180 seconds')).toEqual({ a: 10, b: 10 });
  });

  it('keeps to the runs in progress of each key, until they end or are given back', async () => {
    const pool = [key('a', { concurrency: 2 })];
    const provider = await pooled(pool, 6);
    const [first, second] = await take(provider, pool, 5);
    expect(await take(provider, pool)).toEqual([]);
    await fixture.first.dispatch.beginSubmission(first?.runId ?? '', 1, leaseMs);
    await fixture.first.runs.saveHandle(first?.runId ?? '', 1, {}, 0);
    await fixture.first.dispatch.postpone(second?.runId ?? '', 1, hourMs);
    expect(await take(provider, pool)).toHaveLength(1);
    await fixture.first.finish(first?.runId ?? '', 1, succeeded);
    expect(await take(provider, pool)).toHaveLength(1);
    expect(await take(provider, pool)).toEqual([]);
  });

  it('keeps to the limits of a key that is replaced, and forgets what the provider said about it', async () => {
    const pool = [key('a', { concurrency: 2 }), key('b', { perMinute: 3 })];
    const provider = await pooled(pool, 20);
    expect(byKey(await take(provider, pool))).toEqual({ a: 2, b: 3 });
    await fixture.first.keys.cool({ provider, name: 'b' }, 'submit', hourMs, pool);
    await new ProviderCheckRepository(fixture.first.database).forgetKeys(provider, []);
    expect(await stateOf(provider, 'b')).toBeUndefined();
    await fixture.second.keys.report(pool.map((each) => ({ ...each, provider })));
    expect(await stateOf(provider, 'b')).toMatchObject({ state: 'ready' });
    expect(await take(provider, pool)).toEqual([]);
    expect(byKey(await take(provider, pool, 20, fixture.at('90 seconds')))).toEqual({ b: 3 });
  });

  it('leaves out a key that cools, on all workers, and says when the first one is free', async () => {
    const pool = [key('a'), key('b')];
    const provider = await pooled(pool, 6);
    expect(await fixture.first.keys.cool({ provider, name: 'a' }, 'submit', hourMs, pool)).toBe(0);
    expect(byKey(await take(provider, pool, 3, fixture.second))).toEqual({ b: 3 });
    expect(await stateOf(provider, 'a')).toMatchObject({ state: 'cooling', coolsUntil: expect.any(String) });
    const freeInMs = await fixture.second.keys.cool({ provider, name: 'b' }, 'submit', 2 * hourMs, pool);
    expect(freeInMs).toBeGreaterThan(hourMs / 2);
    expect(freeInMs).toBeLessThanOrEqual(hourMs);
    expect(await take(provider, pool)).toEqual([]);
    expect(byKey(await take(provider, pool, 3, fixture.at('90 minutes')))).toEqual({ a: 3 });
  });

  it('postpones only the polls of a key that cools', async () => {
    const pool = [key('a'), key('b')];
    const provider = await pooled(pool, 12);
    const runs = await take(provider, pool);
    await fixture.first.keys.cool({ provider, name: 'a' }, 'poll', hourMs, pool);
    const paused = runs.map(async ({ runId, keyName }) => {
      const poll = await fixture.first.runs.readForPoll(runId);
      return (poll?.pausedMs ?? 0) > 0 === (keyName === 'a');
    });
    expect(await Promise.all(paused)).toEqual(runs.map(() => true));
    expect((await stateOf(provider, 'a'))?.state).toBe('ready');
  });

  it('loses a rejected key on all workers until it is restored, but never its last one', async () => {
    const pool = [key('a'), key('b'), key('old', { weight: 0 })];
    const provider = await pooled(pool, 20);
    const drop = (name: string, by = fixture.first) => by.keys.drop({ provider, name }, 'balance', pool);
    const dropped = await Promise.all([drop('a'), drop('b', fixture.second)]);
    // Simultaneous rejections leave one of them.
    expect(dropped.toSorted()).toEqual([false, true]);
    const [left, kept] = dropped[0] ? ['a', 'b'] : ['b', 'a'];
    expect(await stateOf(provider, left)).toMatchObject({ state: 'left', leftFor: 'balance' });
    expect(byKey(await take(provider, pool, 5, fixture.second))).toEqual({ [kept]: 5 });
    // The operator removed the other one.
    expect(byKey(await take(provider, [key(left)], 3))).toEqual({ [left]: 3 });
    expect(await fixture.first.keys.restore({ provider, name: left }, 'admin:x@y')).toBe(true);
    expect(await fixture.first.keys.restore({ provider, name: left }, 'admin:x@y')).toBe(false);
    expect(await stateOf(provider, left)).toMatchObject({ state: 'ready', leftFor: null });
    expect(
      await fixture.first.sql('SELECT action, details FROM operator_action WHERE subject = $1', [provider]),
    ).toEqual([{ action: 'provider.key.restore', details: { key: left } }]);
  });

  it('waits for a rejected key if it has no other', async () => {
    const pool = [key('a'), key('b')];
    const provider = await pooled(pool, 0);
    await fixture.first.keys.drop({ provider, name: 'a' }, 'key', pool);
    const cooled = fixture.first.keys.cool({ provider, name: 'a' }, 'submit', hourMs, [key('a')]);
    expect(await cooled).toBeGreaterThan(hourMs / 2);
  });

  it('has a key that left checked by one worker a minute', async () => {
    const pool = [key('a'), key('b')];
    const provider = await pooled(pool, 0);
    await fixture.first.keys.drop({ provider, name: 'a' }, 'key', pool);
    const due = async (offset: string) => {
      const own = pool.map(({ name }) => ({ provider, name }));
      const by = fixture.at(offset);
      return (await Promise.all([by.keys.takeChecks(own), by.keys.takeChecks(own)])).flat();
    };
    expect(await due('30 seconds')).toEqual([]);
    expect(await due('70 seconds')).toEqual([{ provider, name: 'a' }]);
    expect(await due('100 seconds')).toEqual([]);
  });
});
