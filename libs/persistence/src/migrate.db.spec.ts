import { beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { waitFor } from '../../../test/harness/wait-for.js';
import { functionsRevision } from './functions.js';
import { migrate, schemaIsCurrent } from './migrate.js';
import { readMigrations } from './migrations.js';
import {
  addFirstReleaseRuns,
  makeFirstRelease,
  withMigrations as withMigrationsOn,
} from './testing/first-release.js';
import { plantedMigrations } from './testing/planted-migrations.js';
import { RunFixture } from './testing/run-fixture.js';
import { succeeded } from './testing/runs.js';
import { SpecDatabase } from './testing/spec-database.js';

const fixture = new RunFixture(await SpecDatabase.create());
const { first } = fixture;

const withMigrations = <T>(
  migrations: ReturnType<typeof readMigrations>,
  use: (dataSource: DataSource) => Promise<T>,
): Promise<T> => withMigrationsOn(fixture.database.url, migrations, use);
const migrated = () => withMigrations(readMigrations(), migrate);

/** A session in a transaction, which never looks for deadlocks, so that only other sessions are aborted. */
async function connected(): Promise<Client> {
  const client = new Client({ connectionString: fixture.database.url });
  await client.connect();
  await client.query(`BEGIN; SET LOCAL deadlock_timeout = '10min'`);
  return client;
}
const waiting = (sessions: number) =>
  waitFor(async () => (await first.waiting()) === sessions, {
    withinMs: 20_000,
    what: `${sessions} sessions to wait`,
    everyMs: 5,
  });

/**
 * Returns the result of `work` after a deadlock. Its session stops at the lock `gate`, while another session, which
 * has the lock `held`, begins to wait for the lock `wanted`, which `work` has. Once the gate is open, `work` waits for
 * `held`.
 */
async function afterDeadlock<T>(
  work: () => Promise<T>,
  { gate, held, wanted }: { gate: string; held: string; wanted: string },
): Promise<T> {
  const [between, crossing] = [await connected(), await connected()];
  await between.query(gate);
  await crossing.query(held);
  const working = work();
  await waiting(1);
  const crossed = crossing.query(wanted);
  await waiting(2);
  await between.query('COMMIT');
  // It could only be granted because the work was aborted.
  await crossed;
  await crossing.query('COMMIT');
  await Promise.all([between.end(), crossing.end()]);
  return working;
}

/** The signatures of the schema's functions. */
const signatures = async () =>
  (
    await first.sql<{ signature: string }>(
      `SELECT format('%s(%s) %s', proname, pg_get_function_identity_arguments(oid), pg_get_function_result(oid)) AS signature
       FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`,
    )
  ).map(({ signature }) => signature);

/** Everything in the schema except its functions. */
const objects = () =>
  first.sql(
    `SELECT 'relation' AS kind, relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
     UNION ALL SELECT 'type', typname FROM pg_type WHERE typnamespace = 'public'::regnamespace
     UNION ALL SELECT 'trigger', tgrelid::regclass || '.' || tgname FROM pg_trigger
     UNION ALL SELECT 'constraint', conrelid::regclass || '.' || conname FROM pg_constraint
     ORDER BY 1, 2`,
  );

const noteRevision = (revision: number, digest: string) =>
  first.sql(`UPDATE typeorm_metadata SET name = $1, value = $2 WHERE type = 'FUNCTIONS'`, [
    String(revision),
    digest,
  ]);
/** Replaces a function, as another release would. */
const replaceFunction = () =>
  first.script(
    `CREATE OR REPLACE FUNCTION backlog_chunk_size() RETURNS integer LANGUAGE sql IMMUTABLE RETURN 7`,
  );
const isReplaced = async () =>
  (await first.sql<{ size: number }>('SELECT backlog_chunk_size() AS size'))[0]?.size === 7;

describe('a database of the first release', () => {
  let before: string[];
  let live: { runId: string; epoch: number }[];

  beforeAll(async () => {
    await makeFirstRelease(fixture.database.url);
    before = await signatures();
    live = await addFirstReleaseRuns(fixture.database.url);
  });

  it('is rejected by the apps of this release until it is migrated', async () => {
    expect(await withMigrations(readMigrations(), schemaIsCurrent)).toBe(false);
    const [, ...later] = readMigrations().map((Migration) => new Migration().name);
    expect(await migrated()).toEqual({ migrations: later, functions: true });
    expect(await withMigrations(readMigrations(), schemaIsCurrent)).toBe(true);
    expect(await migrated()).toEqual({ migrations: [], functions: false });
  });

  it('keeps its runs, which finish and are billed', async () => {
    for (const { runId, epoch } of live)
      expect(await first.finish(runId, epoch, succeeded)).toMatchObject({ won: true });
  });

  it('keeps every function that the apps of the first release call', async () => {
    expect(await signatures()).toEqual(expect.arrayContaining(before));
  });

  it('serves the apps of the first release', async () => {
    expect(await withMigrations(readMigrations().slice(0, 1), schemaIsCurrent)).toBe(true);
  });
});

describe('the functions', () => {
  it('are the only change when they are replaced', async () => {
    await noteRevision(0, '');
    const before = [await objects(), await signatures()];
    expect(await migrated()).toEqual({ migrations: [], functions: true });
    expect([await objects(), await signatures()]).toEqual(before);
  });

  it.each([
    ['ledger_entry', ['finish_all', 'refund_run']],
    ['audit_record', ['finish_all']],
  ])('insert into %s only in %j', async (table, names) => {
    const writers = await first.sql(`SELECT proname FROM pg_proc WHERE prosrc ~* $1 ORDER BY proname`, [
      `INSERT INTO ${table}`,
    ]);
    expect(writers).toEqual(names.map((proname) => ({ proname })));
  });

  it('of a newer release are not replaced', async () => {
    await noteRevision(functionsRevision + 1, 'newer');
    await replaceFunction();
    expect(await migrated()).toEqual({ migrations: [], functions: false });
    expect(await isReplaced()).toBe(true);
    expect(await withMigrations(readMigrations(), schemaIsCurrent)).toBe(true);
  });

  it.each([
    ['an older release', functionsRevision - 1],
    ['another build of this release', functionsRevision],
  ])('of %s are replaced', async (_what, revision) => {
    await noteRevision(revision, 'other');
    await replaceFunction();
    expect(await migrated()).toEqual({ migrations: [], functions: true });
    expect(await isReplaced()).toBe(false);
  });

  it('stay unchanged if one of them cannot be replaced', async () => {
    await noteRevision(0, '');
    await replaceFunction();
    // The last function cannot be replaced, because its return type differs.
    await first.script(
      `DROP FUNCTION workers_wanted; CREATE FUNCTION workers_wanted(numeric, numeric) RETURNS text LANGUAGE sql RETURN ''`,
    );
    await expect(migrated()).rejects.toThrow('cannot change return type');
    expect(await isReplaced()).toBe(true);
    await first.script('DROP FUNCTION workers_wanted');
    expect(await migrated()).toEqual({ migrations: [], functions: true });
  });

  it('are replaced again if their wait for a table would be a deadlock', async () => {
    await noteRevision(0, '');
    // Postgres locks the tables of a function in SQL when it is created: shared_run, then backlog_chunk, then api_key.
    const replaced = await afterDeadlock(migrated, {
      gate: 'LOCK TABLE backlog_chunk IN ACCESS EXCLUSIVE MODE',
      held: 'LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE',
      wanted: 'LOCK TABLE shared_run IN ACCESS EXCLUSIVE MODE',
    });
    expect(replaced).toEqual({ migrations: [], functions: true });
  });
});

describe('a new migration', () => {
  const planted = plantedMigrations();

  it('does not block callers while it waits for a table that a transaction holds', async () => {
    const migrations = planted(
      '2000000000000-add-column.sql',
      'ALTER TABLE outbox ADD COLUMN planted integer;\n',
    );
    const holder = await connected();
    await holder.query('LOCK TABLE outbox IN ACCESS SHARE MODE');
    const migrating = withMigrations(migrations, migrate);
    await waiting(1);
    // It leaves the lock queue, so that a caller's statement behind it proceeds.
    expect(await first.sql('SELECT count(*) FROM outbox WHERE false')).toHaveLength(1);
    await holder.query('COMMIT');
    await holder.end();
    expect((await migrating).migrations).toEqual(['AddColumn2000000000000']);
  });

  it('is repeated if its wait for a table would be a deadlock', async () => {
    const migrations = planted(
      '2000000000002-deadlock.sql',
      `SET LOCAL lock_timeout = '20s'; SET LOCAL deadlock_timeout = '1ms';
       LOCK TABLE workspace IN ACCESS EXCLUSIVE MODE;
       SELECT pg_advisory_xact_lock_shared(1);
       ALTER TABLE outbox ADD COLUMN crossed integer;\n`,
    );
    const repeated = await afterDeadlock(() => withMigrations(migrations, migrate), {
      gate: 'SELECT pg_advisory_xact_lock(1)',
      held: 'LOCK TABLE outbox IN ACCESS SHARE MODE',
      wanted: 'LOCK TABLE workspace IN ACCESS SHARE MODE',
    });
    expect(repeated.migrations).toEqual(['Deadlock2000000000002']);
  });

  it('may build an index without blocking callers, also after a failed attempt', async () => {
    const migrations = planted(
      '2000000000001-add-index.sql',
      '-- without a transaction\nDROP INDEX CONCURRENTLY IF EXISTS planted_provider;\nCREATE UNIQUE INDEX CONCURRENTLY planted_provider ON outbox (provider);\n',
    );
    const spaceId = await fixture.space();
    const runs = [await fixture.run('running', { spaceId }), await fixture.run('running', { spaceId })];
    await expect(withMigrations(migrations, migrate)).rejects.toThrow('could not create unique index');
    for (const { runId, epoch } of runs) await first.finish(runId, epoch, succeeded);
    expect((await withMigrations(migrations, migrate)).migrations).toEqual(['AddIndex2000000000001']);
    expect(
      await first.sql(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'planted_provider'::regclass`),
    ).toEqual([{ indisvalid: true }]);
  });

  it('does not stop the previous release, whose migrate changes nothing', async () => {
    expect(await withMigrations(readMigrations(), schemaIsCurrent)).toBe(true);
    expect(await migrated()).toEqual({ migrations: [], functions: false });
  });
});
