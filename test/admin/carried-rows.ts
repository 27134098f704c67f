import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import { carriedTables } from '../../libs/persistence/src/carry-over/tables.js';
import { commandGroups } from '../../apps/admin/src/command-groups.js';
import { runProgram } from '../../apps/admin/src/program.js';
import { longTimeouts, temporaryFolder } from '../harness/index.js';
import { runAdmin } from './run-admin.js';

export const spaceId = '0190f3c4-0000-7000-8000-000000000001';
const keyId = '0190f3c4-0000-7000-8000-000000000002';

/**
 * A number that a double would round, texts that need escapes, times between milliseconds, and values that JSON
 * cannot express.
 */
const rows = `
  INSERT INTO workspace (id, name, visible, runnable, inflight_limit, window_limit, file_bytes_limit, balance_micros, markup,
      webhook_secrets, webhook_secret_rotated_at, created_at, inflight_peak) VALUES
    ('${spaceId}', 'Ünïcode 名前 😀', '{bfl/*,"a,b","qu\\"ote",""}', '{}', 0, 2147483647, 9223372036854775807,
      9007199254740993, 1.2340, '{whsec_new,whsec_old}', '2026-11-23 12:34:56.789012+02', '2026-01-01 00:00:00.000001Z', 7),
    ('0190f3c4-0000-7000-8000-000000000003', 'unlimited', DEFAULT, DEFAULT, 1, 1, 1, NULL, 0, '{}', NULL, '2026-01-01Z', 0);
  INSERT INTO own_key (id, workspace_id, provider, sealed, wrapped_key, wrapped_for, set_by, set_at) VALUES
    ('0190f3c4-0000-7000-8000-000000000004', '${spaceId}', 'bfl', '\\x00ff0a5c', '\\x5c', '0f', 'key:${keyId}', '2026-01-01Z');
  INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes, created_at, expires_at, one_time, tags) VALUES
    ('${keyId}', '${spaceId}', E'line\\nbreak \\u2028 "\\\\', 'rk_live_00000001', '\\x00ff0a5c', '{run,catalog}', '2026-01-01Z', 'infinity', true, '{"project": "="}');
  INSERT INTO budget VALUES ('0190f3c4-0000-7000-8000-0000000000b1', '${spaceId}', 'all', 'workspace', '', NULL, 'total', 'UTC', 9007199254740993,
    true, 'https://hooks.example.com/?a="b"', '[{"micros": 1, "from": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"}]');
  INSERT INTO budget_window OVERRIDING SYSTEM VALUE VALUES (7, '0190f3c4-0000-7000-8000-0000000000b1', '-infinity', '', 'infinity', 0, 1, 50);
  INSERT INTO ledger_entry (workspace_id, run_id, at, amount_micros, balance_micros, basis, note) VALUES
    ('${spaceId}', NULL, '2025-10-25 23:59:59.999999Z', 9007199254740994, 9007199254740994, NULL, 'opening credits'),
    ('${spaceId}', '0190f3c4-0000-7000-8000-000000000009', '2026-01-01 00:00:01Z', -1, 9007199254740993, 'reported', 'a/b');
  -- A number that was skipped.
  SELECT nextval(pg_get_serial_sequence('ledger_entry', 'id'));
  INSERT INTO ledger_entry (workspace_id, at, amount_micros, note) VALUES ('0190f3c4-0000-7000-8000-00000000000d', '2026-01-01Z', 5, 'of a deleted workspace');
  INSERT INTO audit_record VALUES ('0190f3c4-0000-7000-8000-000000000009', '${spaceId}', '0190f3c4-0000-7000-8000-00000000000a',
    'key:${keyId}', 'a/b', 'a', 'POST', 'succeeded', NULL, 200, false, '2026-01-01 00:00:00.123456Z', NULL, NULL, NULL,
    '2026-01-01 00:00:01Z', 9007199254740993, 1, 'reported', false, '{"tag:a.b-c_1": "x=\\"y\\"", "user": "u"}', '{7}');
  INSERT INTO run_attribution VALUES ('${spaceId}', 'tag:a.b-c_1', 'x="y"', '0190f3c4-0000-7000-8000-000000000009');
  INSERT INTO operator_action (at, actor, action, subject, details) VALUES
    ('2026-01-01Z', 'admin:me@here', 'workspace.change', 'x', '{"big": 12345678901234567890.10, "none": null, "text": "\\u2028"}'),
    ('2026-01-01Z', 'admin:me@here', 'odd', 'x', 'null');
  INSERT INTO provider_pause VALUES ('bfl', 'submit', 'operator', '2026-01-01', 'infinity', 'maintenance');
  INSERT INTO publisher (id, name, status, moderated_status) VALUES ('p', 'P', 'PublisherStatusActive', 'PublisherStatusBanned');
  INSERT INTO publisher_member VALUES ('p', 0, NULL, 'owner', 'u', 'n', 'e@example.com');
  INSERT INTO node (id, created_at, updated_at, publisher_banned, rating, downloads, name, description, tags, publisher_id, status,
      translations, moderated_status, moderated_tags) VALUES
    ('n', '2026-01-01 00:00:00.123Z', '2026-01-02Z', true, 0.1::float8 + 0.2::float8, 9007199254740993, 'N', '', ARRAY['a', NULL, 'NULL', '{}'],
      'p', 'NodeStatusActive', '{"de": {"name": "1.0"}, "n": 1.0}', 'NodeStatusBanned', '{x}');
  INSERT INTO node_version (node_id, version, created_at, status) VALUES ('n', '1.0.0', '2026-01-01Z', 'NodeVersionStatusActive');
  INSERT INTO registry_mirror (url, started_at, started_total) VALUES ('https://registry.example', '2026-01-01Z', 3);
`;

/** Fills every table that is carried over. */
export const insertCarried = (url: string): Promise<unknown> => sql(url, rows);

export async function sql<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 20_000 });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Every value of the carried tables as Postgres writes it, except the record of the import. */
export async function carriedRows(url: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of carriedTables) {
    const except = table === 'operator_action' ? `WHERE action <> 'database.import'` : '';
    const rows = await sql<{ row: string }>(
      url,
      `SELECT carried::text AS row FROM ${table} AS carried ${except} ORDER BY 1`,
    );
    found[table] = rows.map(({ row }) => row);
  }
  return found;
}

/** The lines of an export, which must succeed. */
export async function exportedTo(url: string, ...words: string[]): Promise<{ file: string; error: string }> {
  const file = path.join(temporaryFolder('export'), 'database.jsonl');
  const { code, error } = await runAdmin({ DATABASE_URL: url }, 'export', '--file', file, ...words);
  if (code !== 0) throw new Error(`the export ended with ${code}: ${error}`);
  return { file, error };
}

export const linesOf = async (file: string): Promise<string[]> =>
  (await readFile(file, 'utf8')).split('\n').slice(0, -1);

/** Imports lines from standard input. */
export async function importFrom(
  url: string,
  input: AsyncIterable<string | Buffer>,
): Promise<{ code: number; error: string }> {
  let error = '';
  const code = await runProgram(
    commandGroups,
    ['import'],
    { ...longTimeouts, DATABASE_URL: url },
    { out: () => {}, error: (text) => void (error += text), input },
  );
  return { code, error };
}

export const importFile = (url: string, file: string) => importFrom(url, createReadStream(file));
