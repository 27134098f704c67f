import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { carriedTables, refilledTables } from '../../libs/persistence/src/carry-over/tables.js';
import { createDatabase, failOnLeftovers, type TestDatabase } from '../harness/index.js';
import { carriedRows, exportedTo, importFile, insertCarried, linesOf, spaceId, sql } from './carried-rows.js';
import { answerOf, runAdmin } from './run-admin.js';

interface Imported {
  rows: Record<string, number>;
  sums: Record<string, string>;
}

describe('admin export and import', () => {
  const databases: TestDatabase[] = [];
  let source: TestDatabase;
  const create = async () => {
    const made = await createDatabase();
    databases.push(made);
    return made;
  };

  beforeAll(async () => {
    source = await create();
    await insertCarried(source.url);
  });
  afterAll(async () => {
    for (const database of databases) await database.drop();
  });

  it('carry every value over exactly, on one connection', async () => {
    const target = await create();
    const { file } = await exportedTo(source.url);
    const answer = await answerOf<Imported>(
      { DATABASE_URL: target.url, DATABASE_POOL: '1' },
      'import',
      '--file',
      file,
    );
    const carried = await carriedRows(source.url);
    expect(Object.values(carried).map((rows) => rows.length > 0)).toEqual(carriedTables.map(() => true));
    expect(await carriedRows(target.url)).toEqual(carried);
    expect(answer.rows).toMatchObject({ workspace: 2, ledger_entry: 3, node: 1 });
    expect(answer.sums).toEqual({
      'workspace.balance_micros': '9007199254740993',
      'ledger_entry.amount_micros': '9007199254740998',
      'audit_record.cost_micros': '9007199254740993',
      'audit_record.billed_micros': '1',
    });
  });

  it('continue numbering after the highest imported number, and record the import', async () => {
    const target = await create();
    await importFile(target.url, (await exportedTo(source.url)).file);
    await answerOf({ DATABASE_URL: target.url }, 'credits', 'add', '--workspace', spaceId, '--cents', '1');
    const ids = await sql<{ id: string }>(target.url, 'SELECT id FROM ledger_entry ORDER BY id');
    expect(ids.map(({ id }) => id)).toEqual(['1', '2', '4', '5']);
    const [record] = await sql<{ id: string; details: object }>(
      target.url,
      `SELECT id, details FROM operator_action WHERE action = 'database.import'`,
    );
    expect(record).toMatchObject({ id: '3', details: { rows: { workspace: 2 } } });
  });

  it('name the origin of the lines, and write every value as text', async () => {
    const [heading = '', first = ''] = await linesOf((await exportedTo(source.url)).file);
    expect(JSON.parse(heading)).toMatchObject({
      version: 1,
      server: expect.stringMatching(/^\d+/),
      migrations: expect.arrayContaining([expect.stringMatching(/^InitialSchema/)]),
      tables: { provider_pause: ['provider', 'calls', 'asked_by', 'since', 'until', 'reason'] },
    });
    expect(JSON.parse(first)).toMatchObject({
      table: 'workspace',
      row: { balance_micros: '9007199254740993', created_at: '2026-01-01 00:00:00.000001+00' },
    });
  });

  it('read a database whose migrations had different statements', async () => {
    const other = await create();
    await insertCarried(other.url);
    await sql(other.url, `DROP TABLE typeorm_metadata; DELETE FROM migrations`);
    expect((await runAdmin({ DATABASE_URL: other.url }, 'export')).code).toBe(0);
  });

  it('read former names of columns, skip unknown columns, and use defaults for missing ones', async () => {
    const [old, target] = [await create(), await create()];
    await insertCarried(old.url);
    await sql(
      old.url,
      `ALTER TABLE node RENAME moderated_status TO ruled_status;
       ALTER TABLE node RENAME moderated_tags TO ruled_tags;
       ALTER TABLE publisher RENAME moderated_status TO ruled_status;
       ALTER TABLE audit_record DROP COLUMN provider;
       ALTER TABLE workspace DROP COLUMN markup, ADD COLUMN colour text DEFAULT 'red';
       DROP TABLE registry_mirror;
       DROP TABLE provider_pause;
       CREATE TABLE provider_pause (provider text, paused_at timestamptz, reason text);
       INSERT INTO provider_pause VALUES ('bfl', '2026-01-01', 'maintenance')`,
    );
    const { error } = await importFile(target.url, (await exportedTo(old.url)).file);
    expect(error).toBe(
      'warning: skipped, because this version does not have these tables or columns: workspace.colour\n' +
        'warning: empty or set to defaults, because the export does not contain them: workspace.markup, registry_mirror\n',
    );
    const expected = await carriedRows(source.url);
    const found = await carriedRows(target.url);
    expect(await sql(target.url, 'SELECT DISTINCT markup FROM workspace')).toEqual([{ markup: '1' }]);
    for (const table of ['node', 'publisher', 'audit_record', 'provider_pause'])
      expect([table, found[table]]).toEqual([table, expected[table]]);
  });

  it('leave live runs behind only if told to, and do not count them in the new database', async () => {
    const [old, target] = [await create(), await create()];
    await insertCarried(old.url);
    await sql(
      old.url,
      `INSERT INTO run (id, workspace_id, model, provider, mode, facts, reserved_micros, computed_micros, markup, credential, call,
         admitted_position, stage)
       VALUES ('0190f3c4-0000-7000-8000-00000000000b', '${spaceId}', 'a/b', 'a', 'queued', '{}', 5, 5, 1, 'token:x', '{}', 0, 'parked');
       INSERT INTO outbox (workspace_id, run_id, provider, queue, reserved_micros, due_at)
       VALUES ('${spaceId}', '0190f3c4-0000-7000-8000-00000000000b', 'a', 'backlog', 5, 'infinity');
       INSERT INTO backlog_chunk VALUES ('${spaceId}', 0, 1);
       UPDATE workspace SET backlog = 1, held_micros = 5, window_count = 3, window_started_at = '2026-01-01' WHERE id = '${spaceId}'`,
    );
    expect(await runAdmin({ DATABASE_URL: old.url }, 'export')).toEqual({
      code: 1,
      out: '',
      error: expect.stringMatching(/^error: The database has live runs \(1\)\. .*--leave-live-runs.*\n$/),
    });
    const { file, error } = await exportedTo(old.url, '--leave-live-runs');
    expect(error).toBe(
      'warning: live runs (1) are not exported and will never be finished or billed.\n' +
        'warning: rows that are not exported: backlog_chunk 1, outbox 1, run 1\n',
    );
    expect(await importFile(target.url, file)).toEqual({ code: 0, error: '' });
    expect(await carriedRows(target.url)).toEqual(await carriedRows(source.url));
  });

  it('cover every table: a new one must be carried over, refilled, or named here', async () => {
    const tables = await sql<{ name: string }>(
      source.url,
      `SELECT relname::text AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
    const runs = [
      'backlog_chunk',
      'idempotency_key',
      'joined_call',
      'kept_payload',
      'kept_run',
      'model_sample',
      'outbox',
      'payload',
      'run',
      'run_attempts',
      'shared_run',
      'stored_object',
      'tombstone',
      'unkeyed_call',
      'webhook',
    ];
    expect(tables.map(({ name }) => name).toSorted()).toEqual(
      [...carriedTables, ...refilledTables, ...runs].toSorted(),
    );
  });
});

failOnLeftovers();
