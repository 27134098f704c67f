import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { joinedBodies } from '../batches.js';
import { type Ending, endingRow, type FinishedRun, type Granted, payloadColumns } from '../run-facts.js';
import { type Claimed, openRunFixture } from '../testing/run-fixture.js';
import { cancelled, cents, failed, succeeded, testModel, testProvider } from '../testing/runs.js';

const fixture = await openRunFixture();

type Entry = [run: Claimed, ending: Ending];
type Result = { won: boolean; granted: Granted[]; record?: FinishedRun };

function parameters(entries: Entry[]): unknown[] {
  const bodies = entries.map(([, ending]) =>
    ending.outcome === 'succeeded' ? payloadColumns(ending.body)[0] : null,
  );
  const { places, joined } = joinedBodies(bodies);
  const runs = entries.map(([{ runId, epoch }, ending], nth) => ({
    runId,
    epoch,
    ...places[nth],
    ending: JSON.parse(endingRow(ending)) as unknown,
  }));
  return [entries.map(([{ spaceId }]) => spaceId), JSON.stringify(runs), joined];
}

/** The results of one statement, in the order of its entries. */
async function finishAll(...entries: Entry[]): Promise<Result[]> {
  const [row] = await fixture.first.sql<{ results: Result[] }>(
    'SELECT finish_all($1, $2, $3, true) AS results',
    parameters(entries),
  );
  return row?.results ?? [];
}

const giving = (text: string): Ending => ({ ...succeeded, body: Buffer.from(text) }) as Ending;
const stale = (run: Claimed): Claimed => ({ ...run, epoch: run.epoch - 1 });
const won = (results: Result[]) => results.map((each) => each.won);
const grantedIds = (result?: Result) => result?.granted.map(({ runId }) => runId);

const outputOf = async ({ runId }: Claimed) => {
  const [row] = await fixture.first.sql<{ body: Buffer }>(
    `SELECT body FROM payload WHERE run_id = $1 AND kind = 'output'`,
    [runId],
  );
  return row && String(row.body);
};

const balancesOf = async (spaceId: string) =>
  fixture.first.sql(
    `SELECT run_id AS "runId", balance_micros::float AS left FROM ledger_entry
     WHERE workspace_id = $1 AND run_id IS NOT NULL ORDER BY id`,
    [spaceId],
  );

describe('outcomes of one statement', () => {
  it('are returned in the given order, whatever their workspace and whether or not they won', async () => {
    const paid = await fixture.space({ balanceMicros: cents(10) });
    const open = await fixture.space();
    const [a, b, c] = [
      await fixture.run('running', { spaceId: paid, reservedMicros: cents(1) }),
      await fixture.run('running', { spaceId: paid, reservedMicros: cents(2) }),
      await fixture.run('running', { spaceId: paid, reservedMicros: cents(4) }),
    ];
    const other = await fixture.run('running', { spaceId: open });
    const results = await finishAll(
      [c, giving('c')],
      [other, giving('other')],
      [stale(a), giving('stale')],
      [b, failed('provider_error')],
      [{ spaceId: open, runId: v7(), epoch: 1 }, succeeded],
      [a, giving('a')],
    );
    expect(won(results)).toEqual([true, true, false, true, false, true]);
    expect(results.map(({ record }) => record && [record.workspaceId, record.billedMicros])).toEqual([
      [paid, cents(4)],
      [open, cents(1)],
      undefined,
      [paid, 0],
      undefined,
      [paid, cents(1)],
    ]);
    expect(await Promise.all([a, b, c, other].map(outputOf))).toEqual(['a', undefined, 'c', 'other']);
    expect(await balancesOf(paid)).toEqual([
      { runId: c.runId, left: cents(6) },
      { runId: a.runId, left: cents(5) },
    ]);
    expect(await balancesOf(open)).toEqual([{ runId: other.runId, left: null }]);
    const ended = { inflight: 0, committed: 0, held: 0, backlog: 0 };
    expect(await fixture.counters(paid)).toEqual({ ...ended, balance: cents(5) });
    expect(await fixture.counters(open)).toEqual({ ...ended, balance: null });
  });

  it('of one run: the first one that its claim allows wins', async () => {
    const run = await fixture.run('running');
    const beside = await fixture.run('running', { spaceId: run.spaceId });
    const results = await finishAll(
      [stale(run), giving('stale')],
      [run, failed('content_policy_violation', true)],
      [beside, succeeded],
      [run, giving('late')],
      [run, cancelled],
    );
    expect(won(results)).toEqual([false, true, true, false, false]);
    const { run: row, ledger } = await fixture.written(run.runId);
    expect(row).toMatchObject({ outcome: 'failed', bucket: 'content_policy_violation' });
    expect(ledger).toHaveLength(1);
    expect(await outputOf(run)).toBeUndefined();
    expect(await fixture.counters(run.spaceId)).toMatchObject({ inflight: 0, held: 0 });
  });

  it('replace stored outputs, and only these', async () => {
    const spaceId = await fixture.space();
    const kept = await fixture.run('copying', { spaceId });
    const refused = await fixture.run('copying', { spaceId });
    const direct = await fixture.run('running', { spaceId });
    await finishAll([kept, giving('kept')], [refused, failed('provider_error')], [direct, giving('direct')]);
    expect(await Promise.all([kept, refused, direct].map(outputOf))).toEqual(['kept', '{}', 'direct']);
  });

  it('free only the keys of runs that were not sent', async () => {
    const spaceId = await fixture.space();
    const unsent = await fixture.run('claimed', { spaceId, key: 'unsent' });
    const sent = await fixture.run('running', { spaceId, key: 'sent' });
    const refused = await fixture.run('running', { spaceId, key: 'refused' });
    await finishAll(
      [unsent, failed('provider_error')],
      [sent, failed('provider_error')],
      [refused, failed('service_unavailable')],
    );
    expect(
      await fixture.first.sql('SELECT key FROM idempotency_key WHERE workspace_id = $1', [spaceId]),
    ).toEqual([{ key: 'sent' }]);
  });

  it('take parked runs out of the line, and grant everything they freed with the last run of the workspace', async () => {
    const spaceId = await fixture.space({ inflightLimit: 2 });
    const [first, second] = [
      await fixture.run('running', { spaceId }),
      await fixture.run('running', { spaceId }),
    ];
    const parked: Claimed[] = [];
    for (let nth = 0; nth < 5; nth += 1)
      parked.push({ spaceId, runId: await fixture.first.run(spaceId), epoch: 0 });
    const [head, next, middle, after, last] = parked as [Claimed, Claimed, Claimed, Claimed, Claimed];
    const elsewhere = await fixture.run('running');

    const results = await finishAll(
      [first, succeeded],
      [middle, cancelled],
      [elsewhere, succeeded],
      [head, cancelled],
      [second, succeeded],
      [stale(first), cancelled],
    );
    expect(results.map(grantedIds)).toEqual([[], [], [], [], [next.runId, after.runId], []]);
    expect(await fixture.counters(spaceId)).toMatchObject({
      inflight: 2,
      committed: cents(2),
      held: cents(3),
      backlog: 1,
    });
    expect(
      await fixture.first.sql('SELECT runs FROM backlog_chunk WHERE workspace_id = $1', [spaceId]),
    ).toEqual([{ runs: 1 }]);
    expect(await fixture.first.stageOf(last.runId)).toBe('parked');
  });

  it('make requested webhooks due, after the granted runs', async () => {
    const spaceId = await fixture.space({ inflightLimit: 2 });
    const webhook = {
      url: 'https://example.com/done',
      receiver: 'https://example.com',
      form: 'fal' as const,
    };
    const call = { requestId: v7(), route: 'POST /tested', origin: 'http://router.example.com', webhook };
    const calling = await fixture.run('running', { spaceId, call });
    const quiet = await fixture.run('running', { spaceId });
    const next = await fixture.first.run(spaceId);
    const results = await finishAll([quiet, succeeded], [calling, failed('provider_error')]);
    expect(results.map(({ granted }) => granted)).toEqual([
      [],
      [
        { runId: next, provider: testProvider },
        { runId: calling.runId, provider: testProvider, queue: 'webhooks' },
      ],
    ]);
    expect(
      await fixture.first.sql(
        'SELECT run_id, model, origin, bucket, url, receiver, form FROM webhook WHERE workspace_id = $1',
        [spaceId],
      ),
    ).toEqual([
      { run_id: calling.runId, model: testModel, origin: call.origin, bucket: 'provider_error', ...webhook },
    ]);
  });

  it('are not written if a live run has no outbox row', async () => {
    const run = await fixture.run('running');
    const beside = await fixture.run('running', { spaceId: run.spaceId });
    const [row] = await fixture.first.sql('DELETE FROM outbox WHERE run_id = $1 RETURNING *', [run.runId]);
    await expect(finishAll([beside, succeeded], [run, succeeded])).rejects.toThrow(run.runId);
    expect(await fixture.first.stageOf(beside.runId)).toBe('running');
    await fixture.first.sql('INSERT INTO outbox SELECT * FROM jsonb_populate_record(NULL::outbox, $1)', [
      JSON.stringify(row),
    ]);
  });

  it('read only the rows of their own runs, without scanning a table', async () => {
    const spaceId = await fixture.space();
    const runs: Claimed[] = [];
    for (let nth = 0; nth < 6; nth += 1) runs.push(await fixture.run('running', { spaceId }));
    const client = new Client({ connectionString: fixture.database.url, connectionTimeoutMillis: 20_000 });
    await client.connect();
    try {
      await client.query('SET plan_cache_mode = force_generic_plan');
      await client.query('BEGIN');
      for (const batch of [runs.slice(0, 1), runs.slice(1, 4)])
        await client.query(
          'SELECT finish_all($1, $2, $3, true)',
          parameters(batch.map((run) => [run, succeeded])),
        );
      const { rows } = await client.query(
        `SELECT substring(relname FROM '^[a-z]+') AS table, sum(seq_scan)::integer AS scans, sum(idx_tup_fetch)::integer AS fetched
         FROM pg_stat_xact_user_tables WHERE relname ~ '^(run|outbox)' GROUP BY 1 ORDER BY 1`,
      );
      await client.query('COMMIT');
      expect(rows).toEqual([
        { table: 'outbox', scans: 0, fetched: 4 },
        { table: 'run', scans: 0, fetched: 4 },
      ]);
    } finally {
      await client.end();
    }
  });
});
