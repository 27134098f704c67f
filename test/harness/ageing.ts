import { Client } from 'pg';
import type { Submitted } from './caller.js';
import { waitFor } from './wait-for.js';

/**
 * Runs statements with the triggers that guard outcomes switched off, because only a test changes when a run
 * ended.
 */
async function rewrite(databaseUrl: string, statements: string[]): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 20_000 });
  await client.connect();
  try {
    await client.query(
      ['BEGIN', 'SET LOCAL session_replication_role = replica', ...statements, 'COMMIT'].join(';'),
    );
  } finally {
    await client.end();
  }
}

/** Moves the completion of the run into the past; its id and its partition do not change. */
export async function completedEarlier(databaseUrl: string, run: Submitted, seconds: number): Promise<void> {
  await rewrite(databaseUrl, [
    `UPDATE run SET completed_at = completed_at - interval '${seconds} seconds' WHERE id = '${run.requestId}'`,
    `UPDATE audit_record SET completed_at = completed_at - interval '${seconds} seconds' WHERE run_id = '${run.requestId}'`,
  ]);
}

/**
 * Moves the whole run `days` days into the past, and returns the run under the id it would have had then. With
 * `partition: 'default'` that day has no partition, as after a submission to a gateway whose clock is far off.
 */
export async function happenedEarlier(
  databaseUrl: string,
  run: Submitted,
  days: number,
  partition: 'day' | 'default' = 'day',
): Promise<Submitted> {
  const madeMs = Number.parseInt(run.requestId.replace('-', '').slice(0, 12), 16) - days * 86_400_000;
  const hex = madeMs.toString(16).padStart(12, '0');
  const id = `${hex.slice(0, 8)}-${hex.slice(8)}${run.requestId.slice(13)}`;
  const was = `'${run.requestId}'`;
  const back = (...columns: string[]) =>
    columns.map((column) => `${column} = ${column} - interval '${days} days'`).join(', ');
  const day = new Date(madeMs).toISOString().slice(0, 10);
  const statements = [
    // In the same transaction, because an empty day may be dropped at once.
    partition === 'day'
      ? `DO $$ BEGIN IF NOT ensure_day('${day}') THEN RAISE 'the tables are busy'; END IF; END $$`
      : `DROP TABLE IF EXISTS run_${day.replaceAll('-', '')}, payload_${day.replaceAll('-', '')}`,
    `UPDATE payload SET run_id = '${id}' WHERE run_id = ${was}`,
    `UPDATE run SET id = '${id}', ${back('admitted_at', 'granted_at', 'dispatched_at', 'completed_at')} WHERE id = ${was}`,
    `UPDATE stored_object SET owner_id = '${id}', ${back('delete_at', 'link_expires_at')} WHERE owner_id = ${was}`,
    `UPDATE outbox SET run_id = '${id}' WHERE run_id = ${was}`,
    `UPDATE idempotency_key SET run_id = '${id}' WHERE run_id = ${was}`,
    `UPDATE ledger_entry SET run_id = '${id}', ${back('at')} WHERE run_id = ${was}`,
    `UPDATE audit_record SET run_id = '${id}', ${back('admitted_at', 'completed_at')} WHERE run_id = ${was}`,
  ];
  const done = async () => {
    await rewrite(databaseUrl, statements);
    return true;
  };
  await waitFor(done, { withinMs: 30_000, what: 'a run to be moved into the past' });
  return { ...run, requestId: id };
}
