import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { RetentionRepository } from '../retention.repository.js';
import { type Claimed, openRunFixture } from '../testing/run-fixture.js';
import { succeeded, testModel } from '../testing/runs.js';

const fixture = await openRunFixture();

/** Deletes the rows of expired runs, as with any retention below a day. */
const ageOut = (offset: string) =>
  new RetentionRepository(fixture.at(offset).database, {
    RESULT_RETENTION_SECONDS: 86_399,
    LEDGER_RETENTION_MONTHS: 13,
  }).ageOut();
/** The answers to status, result and cancellation, by the clock of a gateway. */
async function answers({ runId, spaceId }: Claimed, offset = '0', by = spaceId): Promise<unknown[]> {
  const { runReader: gateway, runs } = fixture.at(offset);
  const state = await gateway.state(by, testModel, runId);
  const result = await gateway.result(by, testModel, runId);
  const asked = await runs.requestCancel(by, testModel, runId);
  return [
    state === null || state === 'aged_out' ? state : state.outcome,
    result === null || result === 'aged_out' ? result : result.output?.body,
    asked === null || asked === 'aged_out' ? asked : asked.found,
  ];
}
const kept = ['succeeded', Buffer.from('{"done":true}'), 'completed'];
const agedOut = ['aged_out', 'aged_out', 'aged_out'];
const gone = [null, null, null];
const tombstoneOf = async ({ runId }: Claimed) =>
  (
    await fixture.first.sql('SELECT model, origin, admitted_position FROM tombstone WHERE run_id = $1', [
      runId,
    ])
  )[0];

describe('a result', () => {
  it('ages out after a day and is forgotten a week later, whether or not a worker has swept it', async () => {
    const run = await fixture.run('completed');
    expect(await answers(run, '23 hours')).toEqual(kept);
    expect(await answers(run, '25 hours')).toEqual(agedOut);
    expect(await answers(run, '190 hours')).toEqual(agedOut);
    expect(await answers(run, '194 hours')).toEqual(gone);
  });

  it('leaves its billing records when it ages out; payloads and row are deleted', async () => {
    const run = await fixture.run('completed');
    const { audit, ledger } = await fixture.written(run.runId);
    expect(await ageOut('23 hours')).toBe(0);
    expect(await ageOut('25 hours')).toBeGreaterThan(0);
    expect(await fixture.written(run.runId)).toEqual({
      run: null,
      payloads: null,
      outbox: null,
      keys: null,
      objects: null,
      audit,
      ledger,
    });
    expect(ledger).toHaveLength(1);
    expect(await tombstoneOf(run)).toBeUndefined();
    expect(await answers(run, '25 hours')).toEqual(agedOut);
    expect(await fixture.at('25 hours').runReader.modelOf(run.spaceId, run.runId)).toBe(testModel);
    expect(await answers(run, '190 hours')).toEqual(agedOut);
    expect(await answers(run, '194 hours')).toEqual(gone);
    expect(await fixture.at('194 hours').runReader.modelOf(run.spaceId, run.runId)).toBeNull();
  });

  it('answers 410 from its expiry on, although its row stays until its day is dropped', async () => {
    const run = await fixture.run('completed');
    const later = fixture.at('25 hours');
    expect(await later.retention.ageOut()).toBe(0);
    expect(await fixture.written(run.runId)).toMatchObject({ run: { id: run.runId }, payloads: [{}, {}] });
    expect(await answers(run, '25 hours')).toEqual(agedOut);
    expect(await later.runReader.input(run.spaceId, run.runId)).toBe('aged_out');
  });

  it('that is remembered is found only by its owner', async () => {
    const run = await fixture.run('completed');
    const stranger = await fixture.space();
    expect(await answers(run, '25 hours', stranger)).toEqual(gone);
    await ageOut('25 hours');
    expect(await answers(run, '25 hours', stranger)).toEqual(gone);
    expect(await answers({ ...run, runId: v7() }, '25 hours')).toEqual(gone);
    expect(await fixture.at('25 hours').runReader.state(run.spaceId, 'tested/other', run.runId)).toBeNull();
  });

  it('is remembered by its audit record, however short the retention of records is', async () => {
    const run = await fixture.run('completed');
    await ageOut('40 days');
    const records = new RetentionRepository(fixture.at('40 days').database, {
      RESULT_RETENTION_SECONDS: 35 * 86_400,
      LEDGER_RETENTION_MONTHS: 1,
    });
    await records.deleteOld('audit_record');
    expect((await fixture.written(run.runId))['audit']).not.toBeNull();
  });

  it('of a live run never ages out, however long ago it was admitted', async () => {
    const runs = [
      await fixture.run('running'),
      await fixture.run('copying'),
      { runId: await fixture.first.run(await fixture.space({ inflightLimit: 0 })), epoch: 0 },
    ];
    const before = await Promise.all(runs.map(({ runId }) => fixture.written(runId)));
    await ageOut('400 days');
    expect(await Promise.all(runs.map(({ runId }) => fixture.written(runId)))).toEqual(before);
    const [running] = runs;
    if (!running) throw new Error('There is no run');
    // A day from its end, not from its admission.
    await fixture.at('400 days').finish(running.runId, running.epoch, succeeded);
    await ageOut('400 days 23 hours');
    expect((await fixture.written(running.runId))['run']).not.toBeNull();
    await ageOut('401 days 1 hour');
    expect((await fixture.written(running.runId))['run']).toBeNull();
  });

  it('ages by the database’s clock, even if the clock of its gateway was far ahead', async () => {
    const spaceId = await fixture.space();
    const ahead = v7({ msecs: Date.now() + 30 * 86_400_000 });
    const run = await fixture.run('completed', { spaceId, runId: ahead });
    const [row] = await fixture.first.sql(
      'SELECT tableoid::regclass::text AS partition FROM run WHERE id = $1',
      [ahead],
    );
    expect(row).toEqual({ partition: 'run_default' });
    expect(await answers(run)).toEqual(kept);
    await ageOut('25 hours');
    expect(await answers(run, '25 hours')).toEqual(agedOut);
    expect((await fixture.written(ahead))['payloads']).toBeNull();
  });
});

describe('the sweep of aged-out runs', () => {
  it('takes a batch limited by runs and by bytes, oldest first', async () => {
    await ageOut('25 hours');
    const spaceId = await fixture.space();
    const runs = await Promise.all(
      Array.from({ length: 6 }, () => fixture.run('completed', { spaceId, body: Buffer.alloc(1000) })),
    );
    const ids = runs.map(({ runId }) => runId).toSorted();
    const batch = async (rows: number, bytes: number) => {
      const [row] = await fixture
        .at('25 hours')
        .sql<{ runs: number }>('SELECT age_out(86400, $1, $2) AS runs', [rows, bytes]);
      const left = await fixture.first.sql<{ id: string }>(
        'SELECT id FROM run WHERE id = ANY($1) ORDER BY id',
        [ids],
      );
      return [row?.runs, left.map(({ id }) => id)];
    };
    expect(await batch(2, 1_000_000)).toEqual([2, ids.slice(2)]);
    expect(await batch(100, 1500)).toEqual([2, ids.slice(4)]);
    // A run that is larger than the limit goes alone.
    expect(await batch(100, 1)).toEqual([1, ids.slice(5)]);
    expect(await batch(100, 1_000_000)).toEqual([1, []]);
    expect(await batch(100, 1_000_000)).toEqual([0, []]);
  });

  it('leaves one tombstone per run with a key when several workers sweep at once', async () => {
    const spaceId = await fixture.space();
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_each, nth) => fixture.run('completed', { spaceId, key: `swept ${nth}` })),
    );
    const counts = await Promise.all(Array.from({ length: 6 }, () => ageOut('25 hours')));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(runs.length);
    for (const run of runs) expect(await tombstoneOf(run)).toBeDefined();
  });

  it('deletes the objects of a result, but not before the last link to it has expired', async () => {
    const { runId, epoch, spaceId } = await fixture.run('copying');
    for (const key of ['output', 'copy', 'reply']) await fixture.first.storedObjects.note(key, runId, 60);
    await fixture.first.finish(runId, epoch, {
      outcome: 'succeeded',
      mediaType: 'application/json',
      body: { storedAs: 'output' },
      copies: { keys: ['copy'], openUntilMs: Date.now() + 2 * 86_400_000 },
    });
    const due = async (offset: string) => (await fixture.at(offset).storedObjects.takeDue(100)).toSorted();
    expect(await due('24 hours')).toEqual(['reply']);
    await fixture.first.storedObjects.forget(['reply']);
    await ageOut('25 hours');
    expect(await answers({ runId, epoch, spaceId }, '25 hours')).toEqual(agedOut);
    expect(await due('26 hours')).toEqual(['output']);
    await fixture.first.storedObjects.forget(['output']);
    expect(await due('47 hours')).toEqual([]);
    expect(await due('49 hours')).toEqual(['copy']);
  });
});

describe('a key', () => {
  it('repeats its first answer while the run is remembered, and starts no second run', async () => {
    const spaceId = await fixture.space();
    const run = await fixture.run('completed', { spaceId, key: 'queued' });
    const first = await fixture.first.runReader.admission(spaceId, run.runId);
    expect(first).toEqual({
      origin: 'http://router.example.com',
      position: 0,
      streams: false,
      ownKey: false,
    });
    // The clock of the second gateway is slightly slow, so the key outlives the result.
    await ageOut('25 hours');
    expect(await tombstoneOf(run)).toMatchObject({ origin: first?.origin, admitted_position: 0 });
    const again = await fixture.at('23 hours').admit(spaceId, { key: 'queued' });
    expect(again).toEqual({ kind: 'existing', runId: run.runId, matches: true, delivered: false });
    expect(await fixture.first.runReader.admission(spaceId, run.runId)).toEqual(first);
    expect(await fixture.first.runReader.admission(await fixture.space(), run.runId)).toBeNull();
  });

  it('of a run that is no longer remembered has no first answer, but is still in use', async () => {
    const spaceId = await fixture.space();
    const run = await fixture.run('completed', { spaceId, key: 'unremembered' });
    await ageOut('25 hours');
    await fixture.at('194 hours').retention.deleteOld('tombstone');
    expect(await fixture.first.runReader.admission(spaceId, run.runId)).toBeNull();
    expect(await fixture.first.admit(spaceId, { key: 'unremembered' })).toMatchObject({ kind: 'existing' });
  });

  it('is forgotten after 24 hours, and can start a new run', async () => {
    const spaceId = await fixture.space();
    const { runId } = await fixture.run('completed', { spaceId, key: 'forgotten' });
    expect(await fixture.at('23 hours').retention.deleteOld('idempotency_key')).toBe(0);
    expect(await fixture.at('25 hours').retention.deleteOld('idempotency_key')).toBeGreaterThan(0);
    expect((await fixture.written(runId))['keys']).toBeNull();
    expect(await fixture.first.admit(spaceId, { key: 'forgotten' })).toMatchObject({ kind: 'admitted' });
  });
});

it('ledger and audit record are kept for thirteen months', async () => {
  const run = await fixture.run('completed');
  await ageOut('3 days');
  const books = async () => {
    const { ledger, audit } = await fixture.written(run.runId);
    return { ledger, audit };
  };
  const before = await books();
  const deleted = async (offset: string) => [
    await fixture.at(offset).retention.deleteOld('ledger_entry'),
    await fixture.at(offset).retention.deleteOld('audit_record'),
  ];
  expect(await deleted('12 months 25 days')).toEqual([0, 0]);
  expect(await books()).toEqual(before);
  const [ledger = 0, audit = 0] = await deleted('13 months 5 days');
  expect(Math.min(ledger, audit)).toBeGreaterThan(0);
  expect(await books()).toEqual({ ledger: null, audit: null });
});
