import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../../libs/persistence/src/data-source.js';
import { migrate } from '../../../libs/persistence/src/migrate.js';
import { Pools } from '../../../libs/persistence/src/pools.js';
import { migrationsFolder, readMigrations } from '../../../libs/persistence/src/migrations.js';
import { databaseSettings } from '../../../libs/persistence/src/settings.js';
import { readSettings } from '#schemas';
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
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await connected(readMigrations().slice(0, 1), (dataSource) =>
    dataSource.runMigrations({ transaction: 'each' }),
  );
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

async function connected(
  migrations: ReturnType<typeof readMigrations>,
  act: (dataSource: DataSource) => Promise<unknown>,
): Promise<void> {
  const settings = readSettings(databaseSettings, {
    DATABASE_URL: database.url,
    DATABASE_STATEMENT_MS: '600000',
  });
  const dataSource = await new DataSource({
    ...dataSourceOptions(new Pools(settings)),
    migrations,
  }).initialize();
  try {
    await act(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/**
 * The longest time in milliseconds for which another session blocked writers to `run`, `workspace` or `outbox`
 * during `act`.
 */
async function longestLock(act: () => Promise<void>): Promise<number> {
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
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'model-router-migrations-'));
    cpSync(migrationsFolder, folder, { recursive: true });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const planted = (file: string, text: string) => {
    writeFileSync(path.join(folder, file), text);
    const list = readFileSync(path.join(folder, 'released.sha256'), 'utf8');
    writeFileSync(path.join(folder, 'released.sha256'), `${list}0000  ${file}\n`);
    return readMigrations(folder);
  };

  it(`block callers for less than ${maxHeldMs} ms`, async () => {
    const migrations = planted(
      '2000000000000-columns.sql',
      `ALTER TABLE run ADD COLUMN planted text NOT NULL DEFAULT 'none';\nALTER TABLE outbox ADD COLUMN planted integer;\nALTER TABLE workspace ADD COLUMN planted integer;\n`,
    );
    const heldMs = await longestLock(() => connected(migrations, migrate));
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
    const heldMs = await longestLock(() => connected(migrations, migrate));
    process.stdout.write(`a planted rewrite of run: ${heldMs.toFixed(1)} ms\n`);
    expect(heldMs).toBeGreaterThan(maxHeldMs);
  }, 300_000);
});

failOnLeftovers();
