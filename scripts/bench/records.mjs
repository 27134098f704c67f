// How long usage and the list of runs take over many records of one workspace: a million by default, over 30 days.
// Usage is compared with the records at the end.
import { atMost, durations, quantile } from './load.mjs';
import { startService, until } from './service.mjs';
import { sizeOf } from './size.mjs';

const howMany = sizeOf('RECORDS');
const keys = sizeOf('KEYS');
const users = sizeOf('USERS');
const batch = 250_000;
const rareKey = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f905678';
const models = ['bfl/flux-2-pro', 'openai/gpt-image-2', 'fal/flux/dev', 'kling/kling-v3', 'openai/sora-2'];
/** Milliseconds by number of records. */
const aims = { usage: howMany > 1_000_000 ? 60 : 20, list: 20 };

export async function* run() {
  const service = await startService();
  try {
    await records(service);
    const gateway = await service.start('gateway');
    const headers = { 'x-api-key': service.key };
    const get = async (path) => {
      const answer = await fetch(`${gateway.url}${path}`, { headers });
      if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`);
      return answer.json();
    };
    const groupings = ['day', 'model', 'key', 'user', 'day,model,key'];
    const usageOf = (grouping) => `/v2/usage?group_by=${grouping}&from=${from}&to=${to}`;
    const to = new Date().toISOString();
    const from = new Date(Date.now() - 30 * 86_400_000).toISOString();
    const startedMs = performance.now();
    const worker = await service.start('worker', { RETENTION_EVERY_MS: '500' }, { rests: false });
    const [{ closed }] = (await service.client.query(`SELECT date_trunc('hour', now(), 'UTC') AS closed`))
      .rows;
    const isAddedUp = async () =>
      (await service.client.query('SELECT FROM usage_progress WHERE until >= $1', [closed])).rowCount === 1;
    await until(isAddedUp, 'the sums', 60_000 + howMany / 10);
    const seconds = (performance.now() - startedMs) / 1000;
    yield atMost(`adding up ${howMany} records, with the start of the worker`, [seconds], Infinity, 's', 1);
    await worker.stop();
    await service.client.query('VACUUM ANALYZE');
    const sizes = await service.client.query(
      `SELECT pg_relation_size('audit_record')::float AS heap, pg_indexes_size('audit_record')::float AS indexes,
        pg_total_relation_size('usage_sum')::float AS sums,
        pg_total_relation_size('usage_dimension_sum')::float AS "sums of users"`,
    );
    for (const [what, bytes] of Object.entries(sizes.rows[0]))
      yield atMost(`disk of a record, ${what}`, [bytes / howMany], Infinity, 'bytes');

    const p50 = async (path) => {
      await get(path);
      const times = await durations(gateway.url, { path, headers }, { concurrency: 1, count: 15 });
      return quantile(times, 0.5);
    };
    for (const grouping of groupings) {
      const aim = grouping.includes(',') ? Infinity : aims.usage;
      yield atMost(
        `usage of 30 days by ${grouping}, ${howMany} records`,
        [await p50(usageOf(grouping))],
        aim,
        'ms',
        1,
      );
    }
    for (const filter of [
      'limit=100',
      `model=${models[0]}`,
      'model=kling/kling-o3',
      `key=${rareKey}`,
      'outcome=failed',
      'outcome=cancelled',
      'error_type=provider_error',
      'error_type=client_disconnected',
      'status=IN_PROGRESS',
      `from=${new Date(Date.now() - 86_400_000).toISOString()}`,
      `to=${new Date(Date.now() - 20 * 86_400_000).toISOString()}`,
    ]) {
      for (const page of [1, 200]) {
        const at = await pageAt(get, filter, page);
        if (at === null) continue;
        yield atMost(`page ${page} of the runs with ${filter}`, [await p50(at)], aims.list, 'ms', 1);
      }
    }
    const { data } = await get(usageOf('day,model,key'));
    const sums = data.map((each) => [
      each.day,
      each.model,
      each.key_id,
      each.runs,
      each.succeeded,
      each.cost_cents,
    ]);
    const counted = await fromRecords(service, [from, to]);
    if (JSON.stringify(sums) !== JSON.stringify(counted)) throw new Error('usage differs from the records');
  } finally {
    await service.stop();
  }
}

/** The path of a page of the filtered list; null if the list ends before. */
async function pageAt(get, filter, page) {
  let path = `/v2/requests?${filter}`;
  for (let nth = 1; nth < page; nth += 1) {
    const { next_cursor: cursor } = await get(path);
    if (cursor === undefined) return null;
    path = `/v2/requests?${filter}&cursor=${cursor}`;
  }
  return path;
}

async function fromRecords({ client, workspaceId }, range) {
  const { rows } = await client.query({
    text: `SELECT to_char(completed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), model, substr(credential, 5), count(*)::float,
        (count(*) FILTER (WHERE outcome = 'succeeded'))::float, (sum(billed_micros) / 10000.0)::float
      FROM audit_record WHERE workspace_id = $1 AND completed_at >= $2 AND completed_at < $3 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    values: [workspaceId, ...range],
    rowMode: 'array',
  });
  return rows;
}

/** Records of 30 days: a percent failed, and the oldest ten differ in everything from the others. */
async function records({ client, workspaceId }) {
  for (let first = 1; first <= howMany; first += batch)
    await client.query(
      `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
         caller_left, admitted_at, granted_at, dispatched_at, completed_at, cost_micros, billed_micros, attribution)
       SELECT overlay(v7_floor(at)::text placing substr(gen_random_uuid()::text, 25) from 25)::uuid, $1, gen_random_uuid(),
         'key:' || CASE WHEN is_rare THEN $2 ELSE '0198a1c2-7d3e-7f4a-8b5c-' || lpad(to_hex(n * 7919 % $8 % $3), 12, '0') END,
         CASE WHEN is_rare THEN 'kling/kling-o3' ELSE ($4::text[])[1 + n % 5] END, 'bench', 'POST',
         CASE WHEN is_rare THEN 'cancelled' WHEN n % 100 = 0 THEN 'failed' ELSE 'succeeded' END,
         CASE WHEN is_rare THEN 'client_disconnected' WHEN n % 100 = 0 THEN 'provider_error' END,
         200, false, started_at, started_at, started_at, at, 100, n % 90, jsonb_build_object('user', 'user-' || n * 7919 % $8)
       FROM (SELECT n, n <= 10 AS is_rare, now() - (1 - n / $5::float) * interval '30 days' AS at
         FROM generate_series($6::bigint, $7::bigint) AS n) AS times, LATERAL (SELECT at - (1 + n % 400) * interval '0.1 second' AS started_at) AS starts`,
      [workspaceId, rareKey, keys, models, howMany, first, Math.min(howMany, first + batch - 1), users],
    );
  await client.query('VACUUM ANALYZE audit_record');
}
