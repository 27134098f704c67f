import { Inject, Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { DATABASE_OPTIONS, type RetentionSettings, tombstoneSeconds } from './settings.js';

/** Limits of one call, so that it stays well within the statement timeout. */
const batchRows = 500;
const batchBytes = 64 * 1024 * 1024;
const batchSpaces = 10;

const ago = (interval: string) => `router_statement_now() - make_interval(${interval})`;

/** For each table whose old rows are deleted: its key, and the condition (with the order) that selects old rows. */
function oldRowsOf({ RESULT_RETENTION_SECONDS, LEDGER_RETENTION_MONTHS }: RetentionSettings) {
  const forgotten = ago(`secs => ${RESULT_RETENTION_SECONDS + tombstoneSeconds}`);
  const closed = ago(`months => ${LEDGER_RETENTION_MONTHS}`);
  return {
    idempotency_key: ['workspace_id, key', 'expires_at <= router_statement_now()'],
    tombstone: ['run_id', `completed_at <= ${forgotten} ORDER BY completed_at`],
    // Kept as long as their run or its tombstone.
    joined_call: [
      'workspace_id, call_id',
      `run_id < v7_floor(${forgotten}) AND NOT EXISTS (SELECT FROM run WHERE run.id = run_id)
        AND NOT EXISTS (SELECT FROM tombstone WHERE tombstone.run_id = joined_call.run_id) ORDER BY run_id`,
    ],
    // Ended webhooks are listed as long as their run is remembered. The range of ids lets the index find them.
    webhook: ['run_id', `run_id < v7_floor(${forgotten}) AND ended_at <= ${forgotten} ORDER BY run_id`],
    // A sample may quote a little of an input, so it is kept no longer than a result.
    provider_surprise: ['provider, kind', `last_at <= ${ago(`secs => ${RESULT_RETENTION_SECONDS}`)}`],
    ledger_entry: ['workspace_id, id', `at <= ${closed}`],
    audit_record: ['workspace_id, run_id', `completed_at <= ${closed}`],
    usage_sum: ['workspace_id, unit, at, model, credential', `at <= ${closed} - interval '1 day'`],
    // Keys end before every record that names them. The console lists codes and sessions for a month after their
    // end.
    api_key: [
      'id',
      `session_until <= ${ago('days => 30')} OR expires_at <= ${closed} OR revoked_at <= ${closed}`,
    ],
  } as const;
}

/**
 * Creates partitions and deletes old rows. Each method does one short batch and returns its size; 0 means that
 * nothing is left to do, or that another worker is doing it. The clock is `router_statement_now()`, because unlike
 * `router_now()` it can be used in an index search.
 */
@Injectable()
export class RetentionRepository {
  private readonly oldRows: ReturnType<typeof oldRowsOf>;

  constructor(
    private readonly database: Database,
    @Inject(DATABASE_OPTIONS) private readonly periods: RetentionSettings,
  ) {
    this.oldRows = oldRowsOf(periods);
  }

  /** Creates the partitions of the coming days. Returns the number of days that must be retried. */
  async ensurePartitions(): Promise<number> {
    const text = 'SELECT ensure_partitions(7) AS missing';
    const [row] = await this.database.work.query<{ missing: number }>(text);
    return row?.missing ?? 0;
  }

  /** Replaces runs whose result has aged out, and their payloads, by tombstones. */
  async ageOut(): Promise<number> {
    const text = 'SELECT age_out($1, $2, $3) AS runs';
    const bounds = [this.periods.RESULT_RETENTION_SECONDS, batchRows, batchBytes];
    const [row] = await this.database.work.query<{ runs: number }>(text, bounds);
    return row?.runs ?? 0;
  }

  /**
   * Adds up the next hour of some workspaces that have records of a closed hour. An hour is closed a minute after its
   * end, in case the clock of the database is put back. A workspace that another session has locked is left for the
   * next round.
   */
  async addUpUsage(): Promise<number> {
    // Locks and releases: see `add_up_usage`.
    const closed = await this.database.work.query<{ id: string; closedAt: string }>(
      `SELECT id, closed_at::text AS "closedAt"
        FROM date_trunc('hour', router_statement_now() - interval '1 minute', 'UTC') AS closed_at, workspace
        WHERE EXISTS (
          SELECT FROM audit_record WHERE workspace_id = id AND completed_at < closed_at AND completed_at >=
            coalesce((SELECT until FROM usage_progress WHERE usage_progress.workspace_id = id), '-infinity')
        ) LIMIT ${batchSpaces} FOR SHARE OF workspace SKIP LOCKED`,
    );
    const [first] = closed;
    if (!first) return 0;
    const text = 'SELECT add_up_usage($1, $2) AS workspaces';
    const values = [closed.map(({ id }) => id), first.closedAt];
    const [row] = await this.database.work.query<{ workspaces: number }>(text, values);
    return row?.workspaces ?? 0;
  }

  /** Deletes the next batch of old rows of a table. */
  async deleteOld(table: keyof ReturnType<typeof oldRowsOf>): Promise<number> {
    const [key, isOld] = this.oldRows[table];
    const rows = await this.database.work.query(
      `DELETE FROM ${table} WHERE (${key}) IN (
          SELECT ${key} FROM ${table} WHERE ${isOld} LIMIT $1 FOR UPDATE SKIP LOCKED
        ) RETURNING 1`,
      [batchRows],
    );
    return rows.length;
  }

  /**
   * Drops the partitions of one past, empty day. Returns the day as `2026-11-21`, or null if none can be dropped
   * now.
   */
  async dropDay(): Promise<string | null> {
    const [row] = await this.database.work.query<{ day: string | null }>('SELECT drop_day()::text AS day');
    return row?.day ?? null;
  }
}
