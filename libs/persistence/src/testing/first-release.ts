import { readSettings } from '#schemas';
import { DataSource, MigrationExecutor } from 'typeorm';
import { v7 } from 'uuid';
import { dataSourceOptions } from '../data-source.js';
import { Pools } from '../pools.js';
import { readMigrations } from '../migrations.js';
import { databaseSettings } from '../settings.js';
import { testProvider } from './runs.js';

/** Calls `use` with a data source as `migrate` gets it, with the given migrations. */
export async function withMigrations<T>(
  url: string,
  migrations: ReturnType<typeof readMigrations>,
  use: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const settings = readSettings(databaseSettings, { DATABASE_URL: url, DATABASE_STATEMENT_MS: '600000' });
  const dataSource = new DataSource({ ...dataSourceOptions(new Pools(settings)), migrations });
  await dataSource.initialize();
  try {
    return await use(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** Runs migrations without replacing functions. */
export const runMigrations = (url: string, migrations: ReturnType<typeof readMigrations>): Promise<void> =>
  withMigrations(url, migrations, async (dataSource) => {
    const executor = new MigrationExecutor(dataSource);
    executor.transaction = 'each';
    await executor.executePendingMigrations();
  });

/** Recreates the database as the first release's `migrate` left it. */
export async function makeFirstRelease(url: string): Promise<void> {
  await withMigrations(url, [], (dataSource) =>
    dataSource.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'),
  );
  await runMigrations(url, readMigrations().slice(0, 1));
}

/**
 * Adds live runs of one workspace as that release left them. It uses SQL because today's repositories may use other
 * columns.
 */
export async function addFirstReleaseRuns(url: string): Promise<{ runId: string; epoch: number }[]> {
  const stages = ['submitting', 'running', 'copying'];
  const runIds = stages.map(() => v7());
  await withMigrations(url, [], async (dataSource) => {
    await dataSource.query(
      `WITH space AS (
          INSERT INTO workspace (id, name, balance_micros, inflight, held_micros, committed_micros)
          VALUES (gen_random_uuid(), 'first release', 1000000, 3, 150000, 150000) RETURNING id
        ), runs AS (
          INSERT INTO run (id, workspace_id, model, provider, mode, facts, reserved_micros, computed_micros, markup, credential,
            call, admitted_position, stage, epoch, lease_until, granted_at, sent_at, dispatched_at, deadline_at, handle,
            output_at)
          SELECT run_id, space.id, 'bfl/flux-2-pro', $3, 'queued', '{"budgetMs":600000}', 50000, 50000, 1, 'token:test',
            jsonb_build_object('requestId', run_id, 'route', 'POST /tested', 'origin', ''), 0, stage::run_stage, 1, router_now() + interval '1 minute', router_now(), router_now(), router_now(), router_now() + interval '10 minutes', '{"v":1}',
            CASE stage WHEN 'copying' THEN router_now() END
          FROM space, unnest($1::uuid[], $2::text[]) AS each (run_id, stage) RETURNING id, workspace_id
        ), rows AS (
          INSERT INTO outbox (workspace_id, run_id, provider, queue, reserved_micros, dispatched, due_at)
          SELECT workspace_id, id, $3, 'dispatch', 50000, true, router_now() + interval '1 minute' FROM runs
        )
        INSERT INTO payload (run_id, kind, media_type, body)
        SELECT run_id, kind::payload_kind, 'application/json', '{}'
        FROM unnest($1::uuid[], $2::text[]) AS each (run_id, stage), unnest('{input,output}'::text[]) AS kind
        WHERE kind = 'input' OR stage = 'copying'`,
      [runIds, stages, testProvider],
    );
  });
  return runIds.map((runId) => ({ runId, epoch: 1 }));
}
