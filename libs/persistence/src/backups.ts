import type { Database } from './database.js';

/** The replication slot by which `backup.sh log` streams the write-ahead log. */
const logSlot = 'model_router_backup';

export interface BackupState {
  /** When the last backup was complete, in seconds since 1970. Null if none has been recorded. */
  lastSeconds: number | null;
  /** Whether the write-ahead log is streamed to the backups. Null if it never was on this server. */
  logStreams: boolean | null;
}

/** Reads what the database knows of its backups. */
export async function backupState(database: Pick<Database, 'reads'>): Promise<BackupState> {
  const [row] = await database.reads.query<BackupState>(
    `SELECT (
        SELECT extract(epoch FROM at)::float8 FROM operator_action
        WHERE subject = 'backup' AND action = 'backup.record' ORDER BY at DESC, id DESC LIMIT 1
      ) AS "lastSeconds",
      (SELECT active FROM pg_replication_slots WHERE slot_name = $1) AS "logStreams"`,
    [logSlot],
  );
  return row ?? { lastSeconds: null, logStreams: null };
}

/** Records a backup that was made in another way than by `backup.sh`. */
export async function recordBackup(
  database: Pick<Database, 'work'>,
  { actor, at, details }: { actor: string; at?: Date | undefined; details: object },
): Promise<void> {
  await database.work.query('SELECT record_backup($1, $2, coalesce($3, router_now()))', [
    actor,
    JSON.stringify(details),
    at ?? null,
  ]);
}
