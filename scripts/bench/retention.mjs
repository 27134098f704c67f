// How fast retention deletes: expired runs by dropping their day and one by one, and the rows of other tables. An
// input has 1 KiB, an output is small. Half of the runs deleted one by one have an Idempotency-Key.
import { RetentionRepository } from '../../dist/libs/persistence/src/index.js';
import { harnessDatabase } from '../../dist/test/harness/long-timeouts.js';
import { atLeast, atMost, inRounds } from './load.mjs';
import { startService } from './service.mjs';
import { sizeOf } from './size.mjs';

const howMany = sizeOf('EXPIRED');
const daysAgo = 5;
const aim = 20_000;
const tables = [
  'tombstone',
  'idempotency_key',
  'joined_call',
  'run_attempts',
  'webhook',
  'ledger_entry',
  'audit_record',
];

export async function* run() {
  const service = await startService();
  const database = harnessDatabase(service.env.DATABASE_URL);
  try {
    const of = (seconds) =>
      new RetentionRepository(database, { RESULT_RETENTION_SECONDS: seconds, LEDGER_RETENTION_MONTHS: 13 });
    const [byDay, byRow] = [of(86_400), of(86_399)];
    const dropped = await inRounds(async () => {
      await expired(service, 0);
      const { seconds, walBytes } = await timed(service, () => byDay.dropDay());
      const { rows } = await service.client.query('SELECT FROM run LIMIT 1');
      if (rows.length > 0) throw new Error('The day was not dropped');
      return { perSecond: howMany / seconds, seconds, walBytes };
    });
    yield atMost(
      `dropping a day of ${howMany} runs`,
      dropped.map((each) => each.seconds),
      Infinity,
      's',
      3,
    );
    yield atLeast(
      'runs deleted with their day',
      dropped.map((each) => each.perSecond),
      aim,
      'a second',
    );
    const deleted = await inRounds(async () => {
      await expired(service, 2);
      const runs = await emptied(service, () => byRow.ageOut());
      await rest(service);
      const rates = { 'runs with their payloads': runs };
      for (const table of tables) rates[table] = await emptied(service, () => byRow.deleteOld(table));
      await byDay.dropDay();
      return rates;
    });
    for (const what of Object.keys(deleted[0])) {
      const rates = deleted.map((round) => round[what].perSecond);
      const { longestMs, walBytes } = deleted.at(-1)[what];
      yield {
        ...atLeast(`${what}, deleted one by one`, rates, aim, 'rows a second'),
        more: [
          `the longest statement ${longestMs.toFixed(0)} ms, ${(walBytes / howMany).toFixed(0)} bytes of WAL a row`,
        ],
      };
    }
  } finally {
    await database.close();
    await service.stop();
  }
}

/** Deletes in batches until nothing is left. Throws unless that was as much as was inserted. */
async function emptied(service, batch) {
  let rows = 0;
  let longestMs = 0;
  const { seconds, walBytes } = await timed(service, async () => {
    for (;;) {
      const startedMs = performance.now();
      const found = await batch();
      if (found === 0) return;
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      rows += found;
    }
  });
  if (rows < howMany / 2) throw new Error(`Only ${rows} rows were deleted`);
  return { perSecond: rows / seconds, longestMs, walBytes };
}

async function timed({ client }, work) {
  const position = async () =>
    (await client.query(`SELECT (pg_current_wal_insert_lsn() - '0/0')::float AS wal`)).rows[0].wal;
  const before = await position();
  const startedMs = performance.now();
  await work();
  const seconds = (performance.now() - startedMs) / 1000;
  return { seconds, walBytes: (await position()) - before };
}

/** The ids of a past day in ascending order, and the time of each. */
const past = `SELECT n, at, overlay(v7_floor(at)::text placing lpad(to_hex(n), 12, '0') from 25)::uuid AS id
  FROM (SELECT n, day + n * interval '80 ms' AS at
    FROM date_trunc('day', now() - interval '${daysAgo} days', 'UTC') AS day, generate_series(1, $1::integer) AS n) AS times`;

/** A day of expired runs. Of `keyed` runs, one has a key; of none if it is 0. */
async function expired({ client, workspaceId }, keyed) {
  await client.query(`SELECT ensure_day((now() - interval '${daysAgo} days')::date)`);
  await client.query(
    `INSERT INTO run (id, workspace_id, model, provider, mode, facts, reserved_micros, computed_micros, markup, credential, call,
       admitted_position, admitted_at, stage, completed_at, outcome, status, billed_micros)
     SELECT id, $2, 'bfl/flux-2-pro', 'bfl', 'queued', jsonb_build_object('facts', repeat('x', 300)), 100, 100, 1, 'key:bench',
       jsonb_build_object('origin', 'http://bench') || CASE WHEN $3 > 0 AND n % greatest($3, 1) = 0 THEN '{"idempotencyKey": "bench"}'::jsonb ELSE '{}' END,
       0, at, 'completed', at, 'succeeded', 200, 100 FROM (${past}) AS past`,
    [howMany, workspaceId, keyed],
  );
  await client.query(
    `INSERT INTO payload (run_id, kind, media_type, body)
     SELECT id, kind, 'application/json', body FROM (${past}) AS past,
       (VALUES ('input', convert_to(repeat('x', 1024), 'UTF8')), ('output', 'done')) AS body (kind, body)`,
    [howMany],
  );
  await client.query('VACUUM ANALYZE run, payload');
}

/** Old rows of the other tables. */
async function rest({ client, workspaceId }) {
  const old = past.replace(`${daysAgo} days`, '14 months');
  await client.query(
    'TRUNCATE tombstone, idempotency_key, joined_call, run_attempts, webhook, ledger_entry, audit_record',
  );
  const inserts = [
    `tombstone (run_id, workspace_id, model, completed_at) SELECT id, $2, 'bfl/flux-2-pro', at`,
    `idempotency_key (workspace_id, key, fingerprint, run_id, expires_at) SELECT $2, 'key ' || n, sha256('x'), id, at`,
    `joined_call (workspace_id, call_id, run_id) SELECT $2, gen_random_uuid(), id`,
    `run_attempts (run_id, provider, attempts, noted_at) SELECT id, 'bfl', '[{"status": 500}]', at`,
    `webhook (run_id, workspace_id, model, origin, completed_at, url, receiver, form, due_at, ended_at, delivered)
       SELECT id, $2, 'bfl/flux-2-pro', 'http://bench', at, 'http://bench/hook', 'http://bench', 'standard', 'infinity', at, true`,
    `ledger_entry (workspace_id, run_id, at, amount_micros, note) SELECT $2, id, at, -100, 'bfl/flux-2-pro'`,
    `audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, status, caller_left,
         admitted_at, completed_at, cost_micros, billed_micros)
       SELECT id, $2, gen_random_uuid(), 'key:bench', 'bfl/flux-2-pro', 'bfl', 'POST', 'succeeded', 200, false, at, at, 100, 100`,
  ];
  for (const insert of inserts)
    await client.query(`INSERT INTO ${insert} FROM (${old}) AS past WHERE $2::uuid IS NOT NULL`, [
      howMany,
      workspaceId,
    ]);
  await client.query(`VACUUM ANALYZE ${tables.join(', ')}`);
}
