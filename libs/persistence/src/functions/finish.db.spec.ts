import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { leaseMs, openRunFixture } from '../testing/run-fixture.js';
import { cancelled, cents, failed, succeeded, testHandle, testModel, testProvider } from '../testing/runs.js';

const fixture = await openRunFixture();

const keyOf = async (runId: string) => (await fixture.written(runId))['keys'];
const saying = (text: string) => [{ loc: ['body', text], msg: text, type: text, input: { [text]: text } }];
const nothing = { inflight: 0, committed: 0, held: 0, backlog: 0 };

it('the end of a run is a HOT update, like its other changes, because no index covers the changed columns', async () => {
  const indexes = await fixture.first.sql(`SELECT indexname FROM pg_indexes WHERE tablename = 'run'`);
  expect(indexes).toEqual([{ indexname: 'run_pkey' }]);
});

describe('an outcome', () => {
  it('releases everything the run held, and bills it once', async () => {
    const spaceId = await fixture.space({ balanceMicros: cents(10) });
    const { runId, epoch } = await fixture.run('running', {
      spaceId,
      reservedMicros: cents(3),
      key: 'billed',
    });
    expect(await fixture.counters(spaceId)).toEqual({
      inflight: 1,
      committed: cents(3),
      held: cents(3),
      backlog: 0,
      balance: cents(10),
    });
    const finished = await fixture.second.finish(runId, epoch, succeeded);
    expect(finished).toMatchObject({
      won: true,
      granted: [],
      record: {
        workspaceId: spaceId,
        provider: testProvider,
        model: testModel,
        delivery: 'queued',
        outcome: 'succeeded',
        bucket: null,
        billedMicros: cents(3),
        traceparent: null,
        callId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        phasesMs: { queue: expect.any(Number), dispatch: expect.any(Number), provider: expect.any(Number) },
      },
    });
    // Nothing was copied, so that phase has no length, not even 0.
    expect(Object.keys(finished.won ? finished.record.phasesMs : {}).sort()).toEqual([
      'dispatch',
      'provider',
      'queue',
    ]);
    expect(await fixture.counters(spaceId)).toEqual({ ...nothing, balance: cents(7) });
    const { run, outbox, ledger, audit, keys } = await fixture.written(runId);
    expect(run).toMatchObject({ stage: 'completed', outcome: 'succeeded', lease_until: null, bucket: null });
    expect(outbox).toBeNull();
    expect(ledger).toMatchObject([
      { workspace_id: spaceId, amount_micros: -cents(3), balance_micros: cents(7), note: testModel },
    ]);
    expect(audit).toMatchObject({
      workspace_id: spaceId,
      credential: 'token:tester',
      model: testModel,
      route: 'POST /tested',
      outcome: 'succeeded',
      status: 200,
      caller_left: false,
      cost_micros: cents(3),
      billed_micros: cents(3),
    });
    expect(keys).toHaveLength(1);
    expect(await fixture.second.runReader.result(spaceId, testModel, runId)).toMatchObject({
      outcome: 'succeeded',
      status: 200,
      output: {
        mediaType: 'application/json',
        body: Buffer.from('{"done":true}'),
      },
    });
  });

  it.each([
    ['a failure that is not billed', failed('provider_error'), 0],
    ['a failure that the provider charges for', failed('content_policy_violation', true), cents(1)],
    ['a cancellation', cancelled, 0],
  ])('of %s is billed accordingly, and stores no output', async (_what, ending, billed) => {
    const spaceId = await fixture.space({ balanceMicros: cents(10) });
    const { runId, epoch } = await fixture.run('running', { spaceId });
    expect(await fixture.first.finish(runId, epoch, ending)).toMatchObject({ won: true });
    expect(await fixture.counters(spaceId)).toEqual({ ...nothing, balance: cents(10) - billed });
    const { ledger, audit } = await fixture.written(runId);
    expect(ledger ?? []).toHaveLength(billed > 0 ? 1 : 0);
    const result = await fixture.first.runReader.result(spaceId, testModel, runId);
    if (result === null || result === 'aged_out') throw new Error('There is no result');
    const { outcome, bucket, status } = result;
    expect(result.output).toBeNull();
    expect(audit).toMatchObject({ outcome, bucket, status, billed_micros: billed, cost_micros: cents(1) });
    expect(result.failure).toEqual(ending.outcome === 'failed' ? { detail: 'It failed.' } : null);
  });

  it.each([
    ['a NUL', 'a\0b', 'a\uFFFDb'],
    ['half a surrogate pair', 'a\uD83Db\uDE00', 'a\uFFFDb\uFFFD'],
    ['any other character', '😀 é \u0001 \n \\u0000 \\ud83d', '😀 é \u0001 \n \\u0000 \\ud83d'],
  ])('keeps a provider’s text with %s', async (_what, said, kept) => {
    const { runId, epoch, spaceId } = await fixture.run('running');
    const finished = await fixture.first.finish(runId, epoch, {
      outcome: 'failed',
      bucket: 'invalid_input',
      status: 422,
      detail: 'It failed.',
      fields: saying(said),
      billable: false,
    });
    expect(finished.won).toBe(true);
    expect(await fixture.first.runReader.result(spaceId, testModel, runId)).toMatchObject({
      failure: { fields: saying(kept) },
    });
  });

  it('frees its slot for parked runs, in order, as far as slots and spend allow', async () => {
    const spaceId = await fixture.space({ inflightLimit: 2, committedLimitMicros: cents(4) });
    const ahead = await fixture.run('running', { spaceId, reservedMicros: cents(2) });
    const beside = await fixture.run('running', { spaceId, reservedMicros: cents(2) });
    const small = await fixture.first.run(spaceId, { reservedMicros: cents(1) });
    const large = await fixture.first.run(spaceId, { reservedMicros: cents(3) });
    const last = await fixture.first.run(spaceId, { reservedMicros: cents(1) });
    const finish = async ({ runId, epoch }: { runId: string; epoch: number }) =>
      (await fixture.second.finish(runId, epoch, succeeded)).granted;

    expect(await finish(ahead)).toEqual([{ runId: small, provider: testProvider }]);
    // The next in line does not fit, and no run overtakes it.
    expect(await fixture.counters(spaceId)).toMatchObject({ inflight: 2, committed: cents(3), backlog: 2 });
    expect(await finish(beside)).toEqual([{ runId: large, provider: testProvider }]);
    const epoch = await fixture.first.take(small, 'running');
    expect(await finish({ runId: small, epoch })).toEqual([{ runId: last, provider: testProvider }]);
    expect(await fixture.first.take(last, 'claimed')).toBe(1);
  });

  it('is only the first of those that are written concurrently', async () => {
    const spaceId = await fixture.space({ balanceMicros: cents(1000) });
    const runs = await Promise.all(Array.from({ length: 50 }, () => fixture.run('running', { spaceId })));
    const results = await Promise.all(
      runs.map(({ runId, epoch }) =>
        Promise.all([
          fixture.first.finish(runId, epoch, succeeded),
          fixture.second.finish(runId, epoch, failed('provider_error')),
        ]),
      ),
    );
    let billed = 0;
    for (const [index, [success, failure]] of results.entries()) {
      expect(success.won).not.toBe(failure.won);
      const { run, ledger } = await fixture.written(runs[index]?.runId ?? '');
      expect(run).toMatchObject({ outcome: success.won ? 'succeeded' : 'failed' });
      expect(ledger ?? []).toHaveLength(success.won ? 1 : 0);
      if (success.won) billed += cents(1);
    }
    expect(await fixture.counters(spaceId)).toEqual({ ...nothing, balance: cents(1000) - billed });
    expect(await fixture.first.outbox.drift()).toEqual([]);
  });

  it('is never written again, not even by a manual update', async () => {
    const { runId, epoch } = await fixture.run('completed');
    const before = await fixture.written(runId);
    for (const ending of [succeeded, cancelled, failed('provider_error', true)]) {
      expect(await fixture.second.finish(runId, epoch, ending)).toEqual({ won: false, granted: [] });
    }
    await expect(
      fixture.first.sql(`UPDATE run SET outcome = 'failed' WHERE id = $1`, [runId]),
    ).rejects.toMatchObject({ code: '23000' });
    expect(await fixture.written(runId)).toEqual(before);
  });

  it('is not written for an unknown run', async () => {
    const { id: workspaceId } = await fixture.first.workspace();
    const none = fixture.first.runs.finishRun({ runId: v7(), epoch: 1, workspaceId }, succeeded);
    expect(await none).toEqual({ won: false, granted: [] });
  });

  it('is written completely or not at all', async () => {
    const { runId, epoch, spaceId } = await fixture.run('running');
    await fixture.first.script(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'injected'; END $$;
      CREATE TRIGGER injected BEFORE INSERT ON audit_record FOR EACH ROW EXECUTE FUNCTION refuse()`);
    const before = [await fixture.written(runId), await fixture.counters(spaceId)];
    await expect(fixture.first.finish(runId, epoch, succeeded)).rejects.toThrow('injected');
    expect([await fixture.written(runId), await fixture.counters(spaceId)]).toEqual(before);
    await fixture.first.sql('DROP TRIGGER injected ON audit_record');
    expect((await fixture.first.finish(runId, epoch, succeeded)).won).toBe(true);
  });
});

describe('a worker that was suspended past its lease', () => {
  it('overwrites neither the next worker’s claim nor its outcome', async () => {
    const { runId, epoch, spaceId } = await fixture.run('claimed', { key: 'slept' });
    const later = fixture.at('61 minutes');
    expect(await fixture.swept(runId, later)).toMatchObject({ kind: 'lapsed' });
    const next = await later.take(runId, 'claimed', leaseMs);
    const asleep = async () => {
      const before = [await fixture.written(runId), await fixture.counters(spaceId)];
      expect(await fixture.first.finish(runId, epoch, failed('provider_error', true))).toEqual({
        won: false,
        granted: [],
      });
      expect(await fixture.first.finish(runId, epoch, succeeded)).toEqual({
        won: false,
        granted: [],
      });
      expect([await fixture.written(runId), await fixture.counters(spaceId)]).toEqual(before);
    };
    await asleep();
    await later.dispatch.beginSubmission(runId, next, leaseMs);
    await asleep();
    await later.runs.saveHandle(runId, next, testHandle, 0);
    await asleep();
    expect((await later.finish(runId, next, succeeded)).won).toBe(true);
    await asleep();
  });

  it('cannot save the handle or the result of a submission that was given up', async () => {
    const { runId, epoch, spaceId } = await fixture.run('submitting', { key: 'given-up' });
    const finder = fixture.at('61 minutes');
    expect(await fixture.swept(runId, finder)).toMatchObject({ kind: 'abandoned', epoch: 2 });
    expect((await finder.finish(runId, 2, failed('provider_error'))).won).toBe(true);
    const before = [await fixture.written(runId), await fixture.counters(spaceId)];
    expect(await fixture.first.runs.saveHandle(runId, epoch, testHandle, 0)).toBeNull();
    expect((await fixture.first.finish(runId, epoch, succeeded)).won).toBe(false);
    expect([await fixture.written(runId), await fixture.counters(spaceId)]).toEqual(before);
  });

  it('keeps its claim if no other worker took the run: the epoch decides, not the time', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    const woken = fixture.at('2 hours');
    expect(await woken.runs.saveHandle(runId, epoch, testHandle, 0)).toEqual({
      cancelRequested: false,
    });
    expect((await woken.finish(runId, epoch, succeeded)).won).toBe(true);
  });
});

describe('the key of a run', () => {
  it('is free again if nothing was sent to the provider', async () => {
    const spaceId = await fixture.space();
    const claimed = await fixture.run('claimed', { spaceId, key: 'mine' });
    await fixture.first.finish(claimed.runId, claimed.epoch, failed('provider_error'));
    expect(await keyOf(claimed.runId)).toBeNull();
    const refused = await fixture.run('submitting', { spaceId, key: 'mine' });
    await fixture.first.dispatch.postpone(refused.runId, refused.epoch, 0);
    await fixture.second.finish(refused.runId, refused.epoch, failed('provider_error'));
    expect(await keyOf(refused.runId)).toBeNull();
    expect(await fixture.first.run(spaceId, { key: 'mine' })).toEqual(expect.any(String));
  });

  it('stays used if something was sent, even if the outcome is unknown', async () => {
    for (const stage of ['submitting', 'running', 'copying'] as const) {
      const { runId, epoch, spaceId } = await fixture.run(stage, { key: stage });
      await fixture.first.finish(runId, epoch, failed('provider_error'));
      expect(await keyOf(runId)).toHaveLength(1);
      expect(await fixture.second.admit(spaceId, { key: stage })).toMatchObject({ kind: 'existing', runId });
    }
  });

  it('is free again if the caller is told to retry, also after a submission', async () => {
    for (const stage of ['submitting', 'running'] as const) {
      const { runId, epoch, spaceId } = await fixture.run(stage, { key: stage });
      await fixture.first.finish(runId, epoch, failed('service_unavailable'));
      expect(await keyOf(runId)).toBeNull();
      expect(await fixture.second.admit(spaceId, { key: stage })).toMatchObject({ kind: 'admitted' });
    }
  });

  it('is not freed by the end of an earlier run that used it', async () => {
    const spaceId = await fixture.space();
    const first = await fixture.run('claimed', { spaceId, key: 'passed-on' });
    // The key has expired and is used again while the first run still waits.
    const second = await fixture.at('25 hours').run(spaceId, { key: 'passed-on' });
    expect(second).not.toBe(first.runId);
    await fixture.first.finish(first.runId, first.epoch, cancelled);
    expect(await keyOf(second)).toHaveLength(1);
  });
});
