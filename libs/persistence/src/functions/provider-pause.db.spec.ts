import { describe, expect, it } from '@jest/globals';
import { leaseMs, openRunFixture } from '../testing/run-fixture.js';
import { failed } from '../testing/runs.js';

const fixture = await openRunFixture();

const hourMs = 3_600_000;
let cases = 0;
/** Each case has a provider of its own: a pause concerns all runs of one. */
const nextProvider = () => `provider-${(cases += 1)}`;
const claim = (runId: string, by = fixture.first) => by.runs.claim(runId, leaseMs);
const held = async (runId: string, by = fixture.first) => {
  const answer = await claim(runId, by);
  if (answer.kind !== 'held') throw new Error(`The run is ${answer.kind}`);
  return answer.freeInMs;
};
const leftOf = async (runId: string, by = fixture.first) => {
  const answer = await claim(runId, by);
  if (answer.kind !== 'claimed') throw new Error(`The run is ${answer.kind}`);
  return answer.leftMs;
};
const submission = (provider: string, budgetMs = 10 * hourMs) =>
  fixture.run('submitting', { provider, budgetMs });

describe('a provider that asks to be left alone', () => {
  it('gets no submission from any worker until then, nor is one claimed for it; other providers go on', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: 10 * hourMs });
    const beside = await fixture.first.run(await fixture.space(), { provider: nextProvider() });
    expect(await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429')).toBe(true);
    for (const by of [fixture.first, fixture.second]) {
      const freeInMs = await held(runId, by);
      expect(freeInMs).toBeGreaterThan(hourMs / 2);
      expect(freeInMs).toBeLessThanOrEqual(1.5 * hourMs);
    }
    expect((await fixture.written(runId))['run']).toMatchObject({
      stage: 'ready',
      epoch: 0,
      crashes: 0,
      lease_until: null,
    });
    expect(await claim(beside)).toMatchObject({ kind: 'claimed' });
    expect(await claim(runId, fixture.at('2 hours'))).toMatchObject({ kind: 'claimed', epoch: 1 });
  });

  it('gets what waited one after the other: each run looks again at a moment of its own', async () => {
    const provider = nextProvider();
    const spaceId = await fixture.space();
    await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429');
    const runs = await Promise.all(
      Array.from({ length: 40 }, () => fixture.first.run(spaceId, { provider, budgetMs: 10 * hourMs })),
    );
    const waits = await Promise.all(runs.map((runId) => held(runId)));
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(hourMs / 10);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1.5 * hourMs);
  });

  it('lets the row of a run rest until well after the pause', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: 10 * hourMs });
    await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429');
    let restMs = 0;
    const looked = async () => (restMs = (await held(runId)) + 10_000);
    const rested = await fixture.restAfter(looked, runId, 0);
    expect(rested).toBeGreaterThanOrEqual(restMs);
    expect(await fixture.overdueAt('50 minutes')).not.toContain(runId);
    expect(await fixture.overdueAt('2 hours')).toContain(runId);
  });

  it('is left alone no shorter by a shorter request, and longer by a longer one', async () => {
    const provider = nextProvider();
    const standing = async () =>
      (await fixture.second.pauses.standing()).filter((each) => each.provider === provider);
    expect(await fixture.first.pauses.pauseFor(provider, 'submit', 2 * hourMs, 'two hours')).toBe(true);
    const before = await standing();
    expect(await fixture.second.pauses.pauseFor(provider, 'submit', hourMs, 'one hour')).toBe(false);
    expect(await standing()).toEqual(before);
    expect(await fixture.second.pauses.pauseFor(provider, 'submit', 3 * hourMs, 'three hours')).toBe(false);
    const [longer] = await standing();
    expect(longer).toMatchObject({ calls: 'submit', askedBy: 'provider', reason: 'three hours' });
    expect(Date.parse(longer?.until ?? '')).toBeGreaterThan(Date.parse(before[0]?.until ?? ''));
    // It is over, so that the next request is a new one.
    expect(await fixture.at('4 hours').pauses.pauseFor(provider, 'submit', hourMs, 'again')).toBe(true);
  });

  it('spends the time of a run that it refused', async () => {
    const provider = nextProvider();
    const { runId, epoch } = await submission(provider, 3 * hourMs);
    await fixture.first.pauses.pauseFor(provider, 'submit', 10 * hourMs, 'HTTP 429');
    await fixture.first.runs.postpone(runId, epoch, 0);
    expect(await held(runId)).toBeLessThanOrEqual(3 * hourMs);
    expect(await leftOf(runId, fixture.at('190 minutes'))).toBeLessThanOrEqual(0);
  });

  it('ends a run whose time is over before the pause: it is claimed with nothing left, and its key is free', async () => {
    const provider = nextProvider();
    const spaceId = await fixture.space();
    await fixture.first.pauses.pauseFor(provider, 'submit', 10 * hourMs, 'HTTP 429');
    const runId = await fixture.first.run(spaceId, { provider, budgetMs: hourMs, key: 'hasty' });
    const freeInMs = await held(runId);
    expect(freeInMs).toBeLessThanOrEqual(hourMs);
    const later = fixture.at('61 minutes');
    const claimed = await claim(runId, later);
    if (claimed.kind !== 'claimed') throw new Error(`The run is ${claimed.kind}`);
    expect(claimed.leftMs).toBeLessThanOrEqual(0);
    await later.finish(runId, claimed.epoch, failed('provider_error'));
    expect((await fixture.written(runId))['keys']).toBeNull();
  });

  it('gives a run that it never got the whole of its time again, once the pause is over', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: 3 * hourMs });
    await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429');
    await held(runId);
    const later = fixture.at('2 hours');
    expect(await leftOf(runId, later)).toBeNull();
    expect(await later.runs.beginSubmission(runId, 1, leaseMs)).toBe(true);
    const poll = await later.runs.readForPoll(runId);
    expect(poll?.leftMs).toBeGreaterThan(2.5 * hourMs);
  });

  it('that refuses polls gets none, and submissions all the same', async () => {
    const provider = nextProvider();
    const running = await fixture.run('running', { provider });
    await fixture.first.pauses.pauseFor(provider, 'poll', hourMs, 'HTTP 429');
    const pausedMs = async (by = fixture.second) => (await by.runs.readForPoll(running.runId))?.pausedMs;
    expect(await pausedMs()).toBeGreaterThan(hourMs / 2);
    expect(await pausedMs()).toBeLessThanOrEqual(1.5 * hourMs);
    expect(await claim(await fixture.first.run(await fixture.space(), { provider }))).toMatchObject({
      kind: 'claimed',
    });
    expect(await pausedMs(fixture.at('61 minutes'))).toBeNull();
  });

  it('that refuses submissions is polled all the same, and what is in the air is not called paused', async () => {
    const provider = nextProvider();
    const running = await fixture.run('running', { provider });
    const inTheAir = await submission(provider);
    await fixture.first.pauses.pauseFor(provider, 'submit', 3 * hourMs, 'HTTP 429');
    expect(await fixture.second.runs.readForPoll(running.runId)).toMatchObject({ pausedMs: null });
    expect(await claim(inTheAir.runId, fixture.at('61 minutes'))).toMatchObject({ kind: 'abandoned' });
  });
});

it('a provider’s pause that a clock dated a day ahead ends when the clock is put right, an operator’s does not', async () => {
  const ahead = fixture.at('1 day');
  await ahead.sql(`SELECT pause_provider('dated', 'submit', 'partner', '5 minutes', 'busy')`);
  await ahead.sql(`SELECT pause_provider('dated', 'poll', 'operator', '60 days', 'works')`);
  const paused = `SELECT paused_ms('dated', 'submit') AS submit, paused_ms('dated', 'poll') AS poll`;
  expect(await fixture.first.sql(paused)).toEqual([{ submit: null, poll: 2 ** 31 - 1 }]);
});

describe('a provider that an operator pauses', () => {
  it('gets no new submission until further notice, and runs look again within a minute', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: hourMs });
    expect(await fixture.first.pauses.pause(provider, 'maintenance', 'test')).toBe(true);
    expect(await fixture.second.pauses.pause(provider, 'still', 'test')).toBe(false);
    for (const offset of ['0', '1 day', '30 days']) {
      const freeInMs = await held(runId, fixture.at(offset));
      expect(freeInMs).toBeGreaterThan(0);
      expect(freeInMs).toBeLessThanOrEqual(60_000);
    }
    expect(await fixture.first.pauses.standing()).toContainEqual(
      expect.objectContaining({
        provider,
        calls: 'submit',
        askedBy: 'operator',
        until: null,
        reason: 'still',
      }),
    );
  });

  it('costs a run that was never sent none of its time, not even when the provider asked for a pause before', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: hourMs });
    await fixture.first.pauses.pauseFor(provider, 'submit', 10 * 60_000, 'HTTP 429');
    await held(runId);
    await fixture.first.pauses.pause(provider, 'maintenance', 'test');
    await held(runId, fixture.at('1 minute'));
    expect((await fixture.written(runId))['run']).toMatchObject({ deadline_at: null });
    await held(runId, fixture.at('1 day'));
    await fixture.at('1 day').pauses.resume(provider, 'test');
    expect(await leftOf(runId, fixture.at('1 day'))).toBeNull();
  });

  it('costs a run that was sent and refused its time', async () => {
    const provider = nextProvider();
    const { runId, epoch } = await submission(provider, hourMs);
    await fixture.first.runs.postpone(runId, epoch, 0);
    await fixture.first.pauses.pause(provider, 'maintenance', 'test');
    await held(runId);
    expect(await leftOf(runId, fixture.at('61 minutes'))).toBeLessThanOrEqual(0);
  });

  it('goes on at a word: what waits is due at once, what is under way is not touched', async () => {
    const provider = nextProvider();
    const spaceId = await fixture.space({ inflightLimit: 3 });
    const waiting = await fixture.first.run(spaceId, { provider });
    const running = await fixture.run('running', { spaceId, provider });
    const sent = await fixture.run('submitting', { spaceId, provider });
    const parked = await fixture.first.run(spaceId, { provider });
    await fixture.first.pauses.pause(provider, 'maintenance', 'test');
    await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429');
    await fixture.first.pauses.pauseFor(provider, 'poll', hourMs, 'HTTP 429');
    await held(waiting);
    const others = () =>
      Promise.all([running.runId, sent.runId, parked].map((runId) => fixture.written(runId)));
    const before = await others();
    expect(await fixture.second.pauses.resume(provider, 'test')).toBe(true);
    expect(await others()).toEqual(before);
    expect((await fixture.second.pauses.standing()).filter((each) => each.provider === provider)).toEqual([]);
    expect(await fixture.overdueAt('0')).toContain(waiting);
    expect(await claim(waiting)).toMatchObject({ kind: 'claimed' });
    expect(await fixture.second.pauses.resume(provider, 'test')).toBe(false);
  });

  it('is told from a provider’s request in the list, with what waits and what is under way', async () => {
    const provider = nextProvider();
    const spaceId = await fixture.space();
    await fixture.first.run(spaceId, { provider });
    await fixture.run('claimed', { spaceId, provider });
    await fixture.run('submitting', { spaceId, provider });
    await fixture.run('copying', { spaceId, provider });
    await fixture.first.pauses.pause(provider, 'maintenance', 'test');
    await fixture.first.pauses.pauseFor(provider, 'poll', hourMs, 'HTTP 429');
    const utc = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const [listed] = (await fixture.second.providers.list([])).filter((each) => each.provider === provider);
    const age = expect.any(Number);
    const none = { runs: 0, oldestSeconds: 0 };
    expect(listed).toEqual({
      provider,
      hasKey: null,
      slots: 0,
      pauses: [
        { calls: 'poll', askedBy: 'provider', since: utc, until: utc, reason: 'HTTP 429' },
        { calls: 'submit', askedBy: 'operator', since: utc, until: null, reason: 'maintenance' },
      ],
      load: {
        parked: none,
        waiting: { runs: 2, oldestSeconds: age },
        submitting: { runs: 1, oldestSeconds: age },
        running: none,
        copying: { runs: 1, oldestSeconds: age },
      },
      outcomes: [],
    });
    const later = (await fixture.at('2 hours').providers.list([])).find((each) => each.provider === provider);
    expect(later?.pauses).toHaveLength(1);
  });
});
