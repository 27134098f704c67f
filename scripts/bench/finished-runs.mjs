// Finished runs, written by copying one. From the command line: node scripts/bench/finished-runs.mjs URL COUNT
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { v7 } from 'uuid';

const batch = 25_000;

/**
 * Ends the run and writes `howMany` others like it, started within the last 20 hours. Returns the space that a
 * run takes.
 */
export async function finishedRuns(client, id, howMany) {
  const ending = { outcome: 'succeeded', status: 200, mediaType: 'application/json', billable: true };
  const output = JSON.stringify({ sample: 'https://assets.example/'.padEnd(300, 'a') });
  await client.query(
    `SELECT finish_all(ARRAY[workspace_id], jsonb_build_array(jsonb_build_object('runId', id, 'epoch', 0, 'ending', $2::jsonb,
       'bodyFrom', 1, 'bodyBytes', length($3::bytea))), $3, true) FROM run WHERE id = $1`,
    [id, ending, Buffer.from(output)],
  );
  await client.query(
    `CREATE TEMP TABLE made AS SELECT overlay(left(v7_floor(at)::text, 13) || substr(gen_random_uuid()::text, 14)
       PLACING '7' FROM 15 FOR 1)::uuid AS id, at, nth
     FROM (SELECT nth, now() - (1 - nth / $1::float) * interval '20 hours' AS at FROM generate_series(1, $1::integer) AS nth) AS times`,
    [howMany],
  );
  await client.query('CREATE INDEX ON made (nth)');
  const sizes = [];
  for (const [table, key, time] of [
    ['run', 'id', 'completed_at'],
    ['payload', 'run_id', ''],
    ['audit_record', 'run_id', 'completed_at'],
    ['ledger_entry', 'run_id', 'at'],
  ]) {
    const { rows: columns } = await client.query(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = $1 AND is_identity = 'NO'`,
      [table],
    );
    const names = columns.map(({ name }) => name);
    const values = names.map((name) =>
      name === key ? 'made.id' : name === time ? 'made.at' : `model.${name}`,
    );
    const bytes = await sizeOf(client, table);
    for (let from = 1; from <= howMany; from += batch) {
      await client.query(
        `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')}
         FROM made, (SELECT * FROM ${table} WHERE ${key} = $1) AS model WHERE nth BETWEEN $2 AND $3`,
        [id, from, from + batch - 1],
      );
    }
    sizes.push(`${table}: ${Math.round(((await sizeOf(client, table)) - bytes) / howMany)} bytes a run`);
  }
  return sizes;
}

async function sizeOf(client, table) {
  const { rows } = await client.query(
    'SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::float AS bytes FROM pg_partition_tree($1)',
    [table],
  );
  return (
    rows[0].bytes ||
    (await client.query('SELECT pg_total_relation_size($1)::float AS bytes', [table])).rows[0].bytes
  );
}

export const newRun = () => ({
  runId: v7(),
  model: 'bench/none',
  provider: 'bench',
  mode: 'queued',
  bodyFrom: 1,
  bodyBytes: 0,
  facts: {},
  reservedMicros: 1000,
  computedMicros: 1000,
  credential: 'bench',
  call: {},
});

/** Writes `howMany` finished runs of a new workspace. Returns the bytes that a run takes in each table. */
async function fill(url, howMany) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      `INSERT INTO workspace (id, name) VALUES (gen_random_uuid(), gen_random_uuid()::text) RETURNING id`,
    );
    const run = { ...newRun(), call: { requestId: v7(), route: 'POST', origin: 'http://router' } };
    await client.query(`SELECT admit(ARRAY[$1::uuid], $2, '', true)`, [rows[0].id, JSON.stringify([run])]);
    return await finishedRuns(client, run.runId, howMany - 1);
  } finally {
    await client.end();
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , url, count] = process.argv;
  process.stdout.write(`${(await fill(url, Number(count))).join('\n')}\n`);
}
