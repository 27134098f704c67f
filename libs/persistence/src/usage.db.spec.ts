import { readSettings } from '#schemas';
import { expect, it } from '@jest/globals';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { RetentionRepository } from './retention.repository.js';
import { retentionSettings } from './settings.js';
import { planOf } from './testing/plan.js';
import { succeeded } from './testing/runs.js';
import { SpecDatabase } from './testing/spec-database.js';
import { UsageReader } from './usage-reader.js';

const file = await SpecDatabase.create();
const one = file.process();
const usage = new UsageReader(one.database);
const periods = readSettings(retentionSettings, {});
const retention = new RetentionRepository(one.database, periods);

const hourMs = 3_600_000;
const key = 'key:0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
const otherKey = 'key:0198a1c2-7d3e-7f4a-8b5c-6d7e8f905678';

/** Records over the last ten days, up to this moment, of three models, two keys and tokens. */
async function record(workspaceId: string, count: number): Promise<void> {
  await one.sql(
    `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
       caller_left, admitted_at, completed_at, cost_micros, billed_micros, attribution)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), ($3::text[])[1 + n % 4], 'bfl/model-' || n % 3, 'bfl', 'POST',
       CASE WHEN n % 7 = 0 THEN 'failed' ELSE 'succeeded' END, NULL, 200, false, at, at, 100, CASE WHEN n % 7 = 0 THEN 0 ELSE n % 90 END,
       CASE n % 4 WHEN 0 THEN jsonb_build_object('user', 'u' || n % 5, 'tag:project', 'p' || n % 6)
         WHEN 1 THEN jsonb_build_object('tag:team', 't' || n % 3) END
     FROM (SELECT n, router_now() - random() * interval '10 days' AS at FROM generate_series(1, $2::integer) AS n) AS times`,
    [workspaceId, count, [key, otherKey, 'token:a', 'token:b']],
  );
}

async function addUp(worker = retention): Promise<void> {
  while ((await worker.addUpUsage()) > 0);
}

const sums = (workspaceId: string) =>
  one.sql(
    `SELECT unit, sum(runs)::integer AS runs FROM usage_sum WHERE workspace_id = $1 GROUP BY unit ORDER BY unit`,
    [workspaceId],
  );

const recordsBefore = async (workspaceId: string): Promise<number> => {
  const [row] = await one.sql<{ runs: number }>(
    `SELECT count(*)::integer AS runs FROM audit_record JOIN usage_progress USING (workspace_id)
      WHERE workspace_id = $1 AND completed_at < until`,
    [workspaceId],
  );
  return row?.runs ?? 0;
};

const groupings = [
  ['day'],
  ['model'],
  ['key'],
  ['day', 'model', 'key'],
  ['user'],
  ['tag:project'],
  ['tag:team', 'day', 'model', 'key'],
  ['tag:none'],
  [],
] as const;

/** The usage of several ranges, some of them hours, some days, up to ten days. */
async function read(workspaceId: string, nowMs: number): Promise<unknown[]> {
  const at = (hoursAgo: number) => new Date(nowMs - hoursAgo * hourMs);
  const ranges: { from?: Date; until?: Date }[] = [{}, { from: at(240) }, { until: at(100) }];
  for (let hours = 0.3; hours < 240; hours *= 2.7) ranges.push({ from: at(hours + 1.4), until: at(1.4) });
  const found = [];
  for (const range of ranges)
    for (const by of groupings) found.push(await usage.groups({ workspaceId, ...range }, by, 10_000));
  return found;
}

it('is the same from the sums as from the records, in any range and grouping', async () => {
  const { id } = await one.workspace();
  await record(id, 5_000);
  const nowMs = Date.now();
  const fromRecords = await read(id, nowMs);

  await addUp();

  const runs = await recordsBefore(id);
  expect(runs).toBeGreaterThan(4_900);
  expect(await sums(id)).toEqual([
    { unit: 'day', runs },
    { unit: 'hour', runs },
  ]);
  expect(await read(id, nowMs)).toEqual(fromRecords);
  expect(await usage.totals({ workspaceId: id })).toMatchObject({ runs: 5_000 });
});

it('by a dimension counts the runs without a value too, and adds up no rows for them', async () => {
  const { id } = await one.workspace();
  await record(id, 400);
  await addUp();
  const users = await usage.groups({ workspaceId: id }, ['user'], 10);
  expect(users.map(({ attribution, runs }) => [attribution, runs])).toEqual([
    ...[0, 1, 2, 3, 4].map((nth) => [{ user: `u${nth}` }, 20]),
    [null, 300],
  ]);
  expect(await usage.groups({ workspaceId: id }, ['tag:none'], 10)).toMatchObject([
    { attribution: null, runs: 400 },
  ]);
  const dimensions = await one.sql(
    'SELECT DISTINCT dimension FROM usage_dimension_sum WHERE workspace_id = $1 ORDER BY 1',
    [id],
  );
  expect(dimensions).toEqual([
    { dimension: 'tag:project' },
    { dimension: 'tag:team' },
    { dimension: 'user' },
  ]);
});

it('by a dimension reads whole days from their index alone', async () => {
  const { id } = await one.workspace();
  await one.sql('INSERT INTO usage_progress VALUES ($1, $2)', [id, '2026-01-31T00:00:00Z']);
  await one.sql(
    `INSERT INTO usage_dimension_sum
     SELECT $1, 'user', unit, date_trunc(unit, hour, 'UTC'), 'u' || n, 'bfl/model', 'token', 1, 1, 1
     FROM generate_series($2::timestamptz, $2::timestamptz + interval '29 days 23 hours', interval '1 hour') AS hour,
       generate_series(1, 100) AS n, unnest(ARRAY['hour', 'day']) AS unit
     ORDER BY random() ON CONFLICT DO NOTHING`,
    [id, '2026-01-01T00:00:00Z'],
  );
  // Vacuum marks pages as visible to all only after the commit is on disk.
  await one.script('CHECKPOINT');
  await one.script('VACUUM ANALYZE usage_dimension_sum');
  const range = {
    workspaceId: id,
    from: new Date('2026-01-01T00:00:00Z'),
    until: new Date('2026-01-31T00:20:00Z'),
  };
  const plan = await planOf(one, (database) =>
    new UsageReader(Object.assign(database, { reads: one.database.reads })).groups(range, ['user'], 1000),
  );
  const reads = plan.filter(({ node }) => node.includes('usage_dimension_sum'));
  expect(reads.map(({ node }) => node)).toEqual([
    expect.stringContaining('Index Only Scan using usage_dimension_sum_day'),
  ]);
});

it('of a workspace without runs is zero', async () => {
  const { id } = await one.workspace();
  await addUp();
  expect(await usage.totals({ workspaceId: id })).toEqual({ runs: 0, billedMicros: 0 });
  expect(await usage.groups({ workspaceId: id }, ['day'], 10)).toEqual([]);
});

it('counts each hour once, however many workers add it up at the same time', async () => {
  const { id } = await one.workspace();
  await record(id, 2_000);
  const workers = [1, 2, 3, 4].map(() => new RetentionRepository(file.process().database, periods));
  await Promise.all(workers.map((worker) => addUp(worker)));
  await addUp();

  const runs = await recordsBefore(id);
  expect(await sums(id)).toEqual([
    { unit: 'day', runs },
    { unit: 'hour', runs },
  ]);
});

it('does not close an hour while a run of it may still end', async () => {
  const { id } = await one.workspace();
  await record(id, 200);
  const ending = new Client(file.url);
  await ending.connect();
  try {
    // As finish_all does: lock the workspace, date the record, commit later.
    await ending.query('BEGIN');
    await ending.query('SELECT FROM workspace WHERE id = $1 FOR NO KEY UPDATE', [id]);
    await addUp();
    expect(await sums(id)).toEqual([]);
    await ending.query('COMMIT');
  } finally {
    await ending.end();
  }
  await addUp();
  expect(await sums(id)).not.toEqual([]);
});

it('keeps sums a day longer than the records', async () => {
  const { id } = await one.workspace();
  await record(id, 500);
  await addUp();
  const old = new RetentionRepository(file.process('14 months').database, periods);
  while ((await old.deleteOld('audit_record')) > 0);
  while ((await old.deleteOld('usage_sum')) > 0);
  while ((await old.deleteOld('usage_dimension_sum')) > 0);
  expect(await sums(id)).toEqual([]);
  expect(await one.sql('SELECT FROM usage_dimension_sum WHERE workspace_id = $1', [id])).toEqual([]);
  expect(await usage.totals({ workspaceId: id })).toEqual({ runs: 0, billedMicros: 0 });
});

it('keeps the names of a run for lists as long as its audit record', async () => {
  const { id } = await one.workspace();
  const attribution = { user: 'u', 'tag:project': 'alpha' };
  const call = { requestId: v7(), route: 'POST', origin: 'https://router.example.com', attribution };
  const runId = await one.run(id, { call });
  const names = () =>
    one.sql('SELECT dimension, value FROM run_attribution WHERE run_id = $1 ORDER BY dimension', [runId]);
  expect(await names()).toEqual([]);
  await one.runTo(runId, succeeded);
  const both = [
    { dimension: 'tag:project', value: 'alpha' },
    { dimension: 'user', value: 'u' },
  ];
  expect(await names()).toEqual(both);
  const old = new RetentionRepository(file.process('14 months').database, periods);
  while ((await old.deleteOld('run_attribution')) > 0);
  expect(await names()).toEqual(both);
  for (const table of ['ledger_entry', 'audit_record', 'run_attribution'] as const)
    while ((await old.deleteOld(table)) > 0);
  expect(await names()).toEqual([]);
});
