import type { Database } from './database.js';
import { rowOf } from './outbox-row.js';

/** Found by the outbox, which has a row for each live run. */
const isUnsent = `${rowOf('run')} AND sent_at IS NULL`;

/** How many live runs were not sent to their providers, as far as this database knows. */
export async function unsentRuns(database: Database): Promise<number> {
  const [row] = await database.write<{ runs: number }>(
    `SELECT count(*)::integer AS runs FROM run, outbox WHERE ${isUnsent}`,
  );
  return row?.runs ?? 0;
}

/**
 * Marks them as sent, for a database that was restored: some of them were sent after the restored moment. The worker
 * that claims such a run finds a submission whose outcome nobody knows. It submits nothing, ends the run as
 * `internal_error`, and the Idempotency-Key stays used. Returns how many runs were marked.
 */
export async function presumeSent(database: Database): Promise<number> {
  const [row] = await database.write<{ runs: number }>(
    `WITH presumed AS (UPDATE run SET sent_at = router_now() FROM outbox WHERE ${isUnsent} RETURNING run.id)
      SELECT count(*)::integer AS runs FROM presumed`,
  );
  return row?.runs ?? 0;
}
