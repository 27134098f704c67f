import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { migrate } from '../../../libs/persistence/src/migrate.js';
import { makeFirstRelease, withMigrations } from '../../../libs/persistence/src/testing/first-release.js';
import { plantedMigrations } from '../../../libs/persistence/src/testing/planted-migrations.js';
import { createDatabase, failOnLeftovers, type TestDatabase } from '../../harness/index.js';

/** The longest time that a migration may keep callers from a table. */
const maxHeldMs = 200;
const runs = 1_000_000;
const liveRuns = 50_000;
const workspaces = 1_000;

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  await makeFirstRelease(database.url);
  await client.query(
    `INSERT INTO workspace (id, name) SELECT gen_random_uuid(), 'w-' || n FROM generate_series(1, ${workspaces}) AS n`,
  );
  await client.query(
    `CREATE TEMPORARY TABLE made AS SELECT n, id AS workspace_id,
       (substr(v7_floor(now() - n * interval '10 milliseconds')::text, 1, 18) || '-8' || substr(gen_random_uuid()::text, 21))::uuid AS run_id
     FROM generate_series(1, ${runs}) AS n
     JOIN (SELECT id, row_number() OVER () AS nth FROM workspace) AS w ON nth = 1 + n % ${workspaces}`,
  );
  await client.query(
    `INSERT INTO run (id, workspace_id, model, provider, mode, facts, reserved_micros, computed_micros, markup, credential, call,
       admitted_position, stage, completed_at, outcome, status, billed_micros)
     SELECT run_id, workspace_id, 'bfl/flux-2-pro', 'bfl', 'queued', '{"budgetMs":600000}', 50000, 50000, 1, 'token:load', '{}', 0,
       CASE WHEN n <= ${liveRuns} THEN 'ready' ELSE 'completed' END, CASE WHEN n > ${liveRuns} THEN now() END,
       CASE WHEN n > ${liveRuns} THEN 'succeeded' END, 200, 50000 FROM made`,
  );
  await client.query(
    `INSERT INTO outbox (run_id, workspace_id, provider, queue, reserved_micros, due_at)
     SELECT run_id, workspace_id, 'bfl', 'dispatch', 50000, now() + interval '1 hour' FROM made WHERE n <= ${liveRuns}`,
  );
  await client.query(
    `UPDATE workspace SET inflight = live, held_micros = live * 50000, committed_micros = live * 50000
     FROM (SELECT workspace_id, count(*)::integer AS live FROM outbox GROUP BY 1) AS counted WHERE id = workspace_id`,
  );
  await client.query('ANALYZE');
}, 900_000);
afterAll(async () => {
  // The ledger has no entries for these rows, so remove them before the books are checked.
  await client.query('TRUNCATE run, outbox; DELETE FROM workspace');
  await client.end();
  await database.drop();
});

/**
 * The longest time in milliseconds for which another session blocked writers to `run`, `workspace` or `outbox`
 * during `act`.
 */
async function longestLock(act: () => Promise<unknown>): Promise<number> {
  const sampler = new Client({ connectionString: database.url });
  await sampler.connect();
  const { signal, abort } = controlled();
  const sampling = (async () => {
    let longestMs = 0;
    let since: number | undefined;
    while (!signal.aborted) {
      const sampledAtMs = performance.now();
      const { rows } = await sampler.query(
        `SELECT FROM pg_locks JOIN pg_class ON pg_class.oid = relation WHERE granted AND pid <> pg_backend_pid()
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
           AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
           AND relname ~ '^(run|workspace|outbox)(_|$)'`,
      );
      if (rows.length > 0) {
        since ??= sampledAtMs;
        longestMs = Math.max(longestMs, performance.now() - since);
      } else since = undefined;
    }
    return longestMs;
  })();
  await act();
  abort();
  const longestMs = await sampling;
  await sampler.end();
  return longestMs;
}

function controlled(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

describe(`migrations of a database with ${runs.toLocaleString('en')} runs`, () => {
  const planted = plantedMigrations();

  it(`block callers for less than ${maxHeldMs} ms`, async () => {
    const migrations = planted(
      '2000000000000-columns.sql',
      `ALTER TABLE run ADD COLUMN planted text NOT NULL DEFAULT 'none';\nALTER TABLE outbox ADD COLUMN planted integer;\nALTER TABLE workspace ADD COLUMN planted integer;\n`,
    );
    const heldMs = await longestLock(() => withMigrations(database.url, migrations, migrate));
    process.stdout.write(
      `longest lock of ${migrations.length - 1} migrations and all functions: ${heldMs.toFixed(1)} ms\n`,
    );
    expect(heldMs).toBeGreaterThan(0);
    expect(heldMs).toBeLessThan(maxHeldMs);
  }, 300_000);

  it('would be noticed if one rewrote a table', async () => {
    const migrations = planted(
      '2000000000001-rewrite.sql',
      'ALTER TABLE run ALTER COLUMN status TYPE bigint;\n',
    );
    const heldMs = await longestLock(() => withMigrations(database.url, migrations, migrate));
    process.stdout.write(`a planted rewrite of run: ${heldMs.toFixed(1)} ms\n`);
    expect(heldMs).toBeGreaterThan(maxHeldMs);
  }, 300_000);
});

failOnLeftovers();
