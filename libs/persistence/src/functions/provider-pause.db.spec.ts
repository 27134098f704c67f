import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../../../test/harness/wait-for.js';
import { leaseMs, openRunFixture } from '../testing/run-fixture.js';
import { pausedRuns } from '../testing/paused-runs.js';
import { failed } from '../testing/runs.js';

const fixture = await openRunFixture();

const hourMs = 3_600_000;
const { nextProvider, putOffMs, held, takenBy } = pausedRuns(fixture);
const submission = (provider: string, budgetMs = 10 * hourMs) =>
  fixture.run('submitting', { provider, budgetMs });

describe('a provider that asks for a pause', () => {
  it('gets no submissions and no claims from any worker until its end; other providers continue', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: 10 * hourMs });
    const beside = await fixture.first.run(await fixture.space(), { provider: nextProvider() });
    expect(await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429')).toBe(true);
    // Both before and after the first sweep.
    for (const by of [fixture.first, fixture.second]) expect(await takenBy(runId, by)).toBeUndefined();
    for (const by of [fixture.first, fixture.second]) {
      const restMs = await held(runId, by);
      expect(restMs).toBeGreaterThan(hourMs / 2);
      expect(restMs).toBeLessThanOrEqual(1.5 * hourMs);
    }
    expect((await fixture.written(runId))['run']).toMatchObject({
      stage: 'ready',
      epoch: 0,
      crashes: 0,
      lease_until: null,
    });
    expect(await takenBy(beside)).toMatchObject({ epoch: 1 });
    const later = fixture.at('2 hours');
    expect(await putOffMs(runId, later)).toBeNull();
    expect(await takenBy(runId, later)).toMatchObject({ epoch: 1 });
  });

  it('gets the waiting runs spread out: each run checks again at a different time', async () => {
    const provider = nextProvider();
    const spaceId = await fixture.space();
    await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429');
    const runs = await Promise.all(
      Array.from({ length: 40 }, () => fixture.first.run(spaceId, { provider, budgetMs: 10 * hourMs })),
    );
    await fixture.first.dispatch.sweep(10_000, leaseMs);
    const waits = (
      await fixture.first.sql<{ restMs: number }>(
        'SELECT extract(epoch FROM due_at - router_now())::float * 1000 AS "restMs" FROM outbox WHERE run_id = ANY($1)',
        [runs],
      )
    ).map(({ restMs }) => restMs);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(hourMs / 10);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1.5 * hourMs);
  });

  it('postpones the row of a run until the pause ends', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: 10 * hourMs });
    await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429');
    expect(await held(runId)).toBeGreaterThanOrEqual(hourMs - 60_000);
    expect(await held(runId, fixture.at('50 minutes'))).toBeGreaterThan(0);
    expect(await fixture.overdueAt('2 hours')).not.toContain(runId);
    expect(await putOffMs(runId, fixture.at('2 hours'))).toBeNull();
  });

  it('postpones no row for longer than two hours', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: 50 * hourMs });
    await fixture.first.pauses.pauseFor(provider, 'submit', 40 * hourMs, 'HTTP 429');
    for (const offset of ['0', '121 minutes']) {
      const restMs = await held(runId, fixture.at(offset));
      expect(restMs).toBeGreaterThan(1.9 * hourMs);
      expect(restMs).toBeLessThanOrEqual(2 * hourMs);
    }
  });

  it('can lengthen its pause, but not shorten it', async () => {
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
    // The pause is over, so the next request starts a new one.
    expect(await fixture.at('4 hours').pauses.pauseFor(provider, 'submit', hourMs, 'again')).toBe(true);
  });

  it('uses up the time of a run that it rejected, which ends on time', async () => {
    const provider = nextProvider();
    const { runId, epoch } = await submission(provider, 3 * hourMs);
    await fixture.first.pauses.pauseFor(provider, 'submit', 10 * hourMs, 'HTTP 429');
    await fixture.first.dispatch.postpone(runId, epoch, 0);
    expect(await held(runId)).toBeLessThanOrEqual(2 * hourMs);
    expect(await held(runId, fixture.at('121 minutes'))).toBeLessThanOrEqual(hourMs);
    const later = fixture.at('181 minutes');
    expect(await fixture.swept(runId, later)).toMatchObject({ kind: 'spent', epoch: epoch + 1 });
    expect(await takenBy(runId, later)).toBeUndefined();
    expect(await fixture.swept(runId, later)).toBeUndefined();
  });

  it('ends every waiting run whose time is over before the pause, even without a free worker, and frees its key', async () => {
    const provider = nextProvider();
    const spaceId = await fixture.space();
    await fixture.first.pauses.pauseFor(provider, 'submit', 10 * hourMs, 'HTTP 429');
    const runs: string[] = [];
    for (let n = 0; n < 5; n += 1)
      runs.push(await fixture.first.run(spaceId, { provider, budgetMs: hourMs, key: `hasty-${n}` }));
    for (const runId of runs) expect(await held(runId)).toBeLessThanOrEqual(hourMs);
    const later = fixture.at('61 minutes');
    const swept = await later.dispatch.sweep(10_000, leaseMs);
    const spent = swept.filter((each) => runs.includes(each.runId));
    expect(spent.map(({ runId, kind }) => `${kind} ${runId}`).toSorted()).toEqual(
      runs.map((runId) => `spent ${runId}`).toSorted(),
    );
    for (const run of spent) {
      expect(run).toMatchObject({ epoch: 1, workspaceId: spaceId, provider, facts: { budgetMs: hourMs } });
      expect((await later.runs.finishRun(run, failed('provider_error'))).won).toBe(true);
      expect((await fixture.written(run.runId))['keys']).toBeNull();
    }
  });

  it('uses up the time of a run from its first sweep on, whichever worker sweeps it next', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: 3 * hourMs });
    await fixture.first.pauses.pauseFor(provider, 'submit', 10 * hourMs, 'HTTP 429');
    await held(runId);
    const deadline = async () => Object((await fixture.written(runId))['run'])['deadline_at'];
    const first = await deadline();
    await held(runId, fixture.at('121 minutes'));
    expect(await deadline()).toBe(first);
  });

  it('ends a run once, however many workers sweep', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: hourMs });
    await fixture.first.pauses.pauseFor(provider, 'submit', 10 * hourMs, 'HTTP 429');
    await held(runId);
    const later = fixture.at('61 minutes');
    const swept = await Promise.all(Array.from({ length: 4 }, () => fixture.swept(runId, later)));
    expect(swept.filter((found) => found?.kind === 'spent')).toHaveLength(1);
  });

  it('restores the full time of a run that was never sent, once the pause is over', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: 3 * hourMs });
    await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429');
    await held(runId);
    const later = fixture.at('2 hours');
    expect(await putOffMs(runId, later)).toBeNull();
    expect(await takenBy(runId, later)).toMatchObject({ leftMs: null });
    expect(await later.dispatch.beginSubmission(runId, 1, leaseMs)).toBe(true);
    const poll = await later.runs.readForPoll(runId);
    expect(poll?.leftMs).toBeGreaterThan(2.5 * hourMs);
  });

  it('does not delay a run that fell back to another provider', async () => {
    const [provider, other] = [nextProvider(), nextProvider()];
    const { runId, epoch } = await submission(provider);
    await fixture.first.sql(
      `UPDATE run SET facts = facts || jsonb_build_object('fallback', jsonb_build_object('provider', $2::text,
         'computedMicros', 1, 'facts', facts)) WHERE id = $1`,
      [runId, other],
    );
    await fixture.first.pauses.pauseFor(provider, 'submit', 3 * hourMs, 'HTTP 429');
    await fixture.first.dispatch.fallBack(runId, epoch);
    expect(await putOffMs(runId)).toBeNull();
    expect(await takenBy(runId)).toMatchObject({ provider: other });
  });

  it('that rejects polls gets none, but still gets submissions', async () => {
    const provider = nextProvider();
    const running = await fixture.run('running', { provider });
    await fixture.first.pauses.pauseFor(provider, 'poll', hourMs, 'HTTP 429');
    const pausedMs = async (by = fixture.second) => (await by.runs.readForPoll(running.runId))?.pausedMs;
    expect(await pausedMs()).toBeGreaterThan(hourMs / 2);
    expect(await pausedMs()).toBeLessThanOrEqual(1.5 * hourMs);
    const waiting = await fixture.first.run(await fixture.space(), { provider });
    expect(await putOffMs(waiting)).toBeNull();
    expect(await takenBy(waiting)).toMatchObject({ epoch: 1 });
    expect(await pausedMs(fixture.at('61 minutes'))).toBeNull();
  });

  it('that rejects submissions is still polled, and submissions in flight do not count as paused', async () => {
    const provider = nextProvider();
    const running = await fixture.run('running', { provider });
    const inTheAir = await submission(provider);
    await fixture.first.pauses.pauseFor(provider, 'submit', 3 * hourMs, 'HTTP 429');
    expect(await fixture.second.runs.readForPoll(running.runId)).toMatchObject({ pausedMs: null });
    expect(await fixture.swept(inTheAir.runId, fixture.at('61 minutes'))).toMatchObject({
      kind: 'abandoned',
    });
  });
});

it('a provider’s pause dated by a clock a day fast ends when the clock is corrected; an operator’s does not', async () => {
  const ahead = fixture.at('1 day');
  await ahead.sql(`SELECT pause_provider('dated', 'submit', 'partner', '5 minutes', 'busy')`);
  await ahead.sql(`SELECT pause_provider('dated', 'poll', 'operator', '60 days', 'works')`);
  const paused = `SELECT paused_ms('dated', 'submit') AS submit, paused_ms('dated', 'poll') AS poll`;
  expect(await fixture.first.sql(paused)).toEqual([{ submit: null, poll: 2 ** 31 - 1 }]);
  const runId = await fixture.first.run(await fixture.space(), { provider: 'dated' });
  expect(await putOffMs(runId)).toBeNull();
  expect(await takenBy(runId)).toMatchObject({ epoch: 1 });
});

describe('a provider that an operator pauses', () => {
  it('gets no new submissions until further notice, and runs check again within a minute', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: hourMs });
    expect(await fixture.first.pauses.pause(provider, 'maintenance', 'test')).toBe(true);
    expect(await fixture.second.pauses.pause(provider, 'still', 'test')).toBe(false);
    for (const offset of ['0', '1 day', '30 days']) {
      const restMs = await held(runId, fixture.at(offset));
      expect(restMs).toBeGreaterThan(0);
      expect(restMs).toBeLessThanOrEqual(60_000);
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

  it('does not use up the time of a run that was never sent, even if the provider asked for a pause before', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: hourMs });
    await fixture.first.pauses.pauseFor(provider, 'submit', 10 * 60_000, 'HTTP 429');
    await held(runId);
    await fixture.first.pauses.pause(provider, 'maintenance', 'test');
    // A postponed row is not checked again before it is due.
    await held(runId, fixture.at('16 minutes'));
    expect((await fixture.written(runId))['run']).toMatchObject({ deadline_at: null });
    await held(runId, fixture.at('1 day'));
    await fixture.at('1 day').pauses.resume(provider, 'test');
    expect(await takenBy(runId, fixture.at('1 day'))).toMatchObject({ leftMs: null });
  });

  it('uses up the time of a run that was sent and rejected', async () => {
    const provider = nextProvider();
    const { runId, epoch } = await submission(provider, hourMs);
    await fixture.first.dispatch.postpone(runId, epoch, 0);
    await fixture.first.pauses.pause(provider, 'maintenance', 'test');
    await held(runId);
    expect(await fixture.swept(runId, fixture.at('61 minutes'))).toMatchObject({ kind: 'spent' });
  });

  it('resumes at once: postponed runs wait again, and runs in flight are not touched', async () => {
    const provider = nextProvider();
    const spaceId = await fixture.space({ inflightLimit: 3 });
    const waiting = await fixture.first.run(spaceId, { provider });
    const running = await fixture.run('running', { spaceId, provider });
    const sent = await fixture.run('submitting', { spaceId, provider });
    const lapsed = await fixture.run('claimed', { provider, by: fixture.at('-2 hours') });
    const claimed = await fixture.run('claimed', { provider });
    const parked = await fixture.first.run(spaceId, { provider });
    await fixture.first.pauses.pause(provider, 'maintenance', 'test');
    await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429');
    await fixture.first.pauses.pauseFor(provider, 'poll', hourMs, 'HTTP 429');
    expect(await fixture.swept(lapsed.runId)).toMatchObject({ kind: 'lapsed' });
    await held(waiting);
    const others = () =>
      Promise.all([running.runId, sent.runId, claimed.runId, parked].map((runId) => fixture.written(runId)));
    const before = await others();
    expect(await fixture.second.pauses.resume(provider, 'test')).toBe(true);
    expect(await others()).toEqual(before);
    expect((await fixture.second.pauses.standing()).filter((each) => each.provider === provider)).toEqual([]);
    // No sweep is needed.
    expect(await fixture.claim(lapsed.runId)).toMatchObject({ epoch: 2, crashes: 1 });
    expect(await takenBy(waiting)).toMatchObject({ epoch: 1 });
    expect(await fixture.second.pauses.resume(provider, 'test')).toBe(false);
  });

  it('does not count as waiting, whether an operator or time ends it', async () => {
    const [paused, throttled] = [nextProvider(), nextProvider()];
    const spaceId = await fixture.space();
    const [first, second] = [
      await fixture.first.run(spaceId, { provider: paused }),
      await fixture.first.run(spaceId, { provider: throttled }),
    ];
    await fixture.first.pauses.pause(paused, 'maintenance', 'test');
    await fixture.at('2 hours').pauses.resume(paused, 'test');
    // The last run that it postpones is due after an hour and a half.
    await fixture.first.pauses.pauseFor(throttled, 'submit', hourMs, 'HTTP 429');
    for (const [runId, hours] of [
      [first, 1],
      [second, 1.5],
    ] as const)
      expect(Number((await takenBy(runId, fixture.at('3 hours')))?.waitedMs) / hourMs).toBeCloseTo(hours, 1);
  });

  it('wakes no run that waits for another reason once it is over', async () => {
    const provider = nextProvider();
    await fixture.first.pauses.pause(provider, 'maintenance', 'test');
    await fixture.first.pauses.resume(provider, 'test');
    const { runId, epoch } = await submission(provider);
    await fixture.first.dispatch.postpone(runId, epoch, hourMs);
    expect(await fixture.second.pauses.resume(provider, 'test')).toBe(false);
    expect(await takenBy(runId)).toBeUndefined();
  });

  it('also resumes for runs that a sweep is just putting off', async () => {
    const provider = nextProvider();
    const runId = await fixture.first.run(await fixture.space(), { provider, budgetMs: 10 * hourMs });
    await fixture.first.pauses.pauseFor(provider, 'submit', hourMs, 'HTTP 429');
    const resumed = await fixture.first.database.transaction(async ({ query }) => {
      await query(`SELECT FROM postpone_paused(10000, interval '1 hour', NULL)`);
      const resuming = fixture.second.pauses.resume(provider, 'test');
      await waitFor(async () => (await fixture.first.waiting()) === 1, {
        withinMs: 15_000,
        what: 'the resume to wait for the sweep',
        everyMs: 1,
      });
      return { resuming };
    });
    expect(await resumed.resuming).toBe(true);
    expect(await takenBy(runId)).toMatchObject({ epoch: 1, leftMs: null });
  });

  it('is distinguished from a provider’s request in the list, with its waiting runs and those in flight', async () => {
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
      surprises: [],
      keys: [],
      hasKey: null,
      slots: 0,
      state: 'paused',
      simulated: false,
      runs: 0,
      failed: 0,
      throttled: 0,
      pauses: [
        { calls: 'poll', askedBy: 'provider', actor: null, since: utc, until: utc, reason: 'HTTP 429' },
        {
          calls: 'submit',
          askedBy: 'operator',
          actor: 'test',
          since: utc,
          until: null,
          reason: 'maintenance',
        },
      ],
      load: {
        parked: none,
        waiting: { runs: 1, oldestSeconds: age },
        submitting: { runs: 2, oldestSeconds: age },
        running: none,
        copying: { runs: 1, oldestSeconds: age },
      },
      outcomes: [],
    });
    const later = (await fixture.at('2 hours').providers.list([])).find((each) => each.provider === provider);
    expect(later?.pauses).toHaveLength(1);
  });
});
