import { Inject, Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { ago, type OldRows, oldRowsOf } from './old-rows.js';
import { DATABASE_OPTIONS, type RetentionSettings } from './settings.js';

/** Limits of one call, so that it stays well within the statement timeout. */
const batchRows = 5000;
const batchBytes = 64 * 1024 * 1024;
const batchSpaces = 10;
/** Each of them may have large rows. */
const erasedRows = 200;

const daySeconds = 86_400;

/**
 * Creates partitions and deletes old rows. Each method does one short batch and returns its size; 0 means that
 * nothing is left to do, or that another worker is doing it. The clock is `router_statement_now()`, because unlike
 * `router_now()` it can be used in an index search.
 */
@Injectable()
export class RetentionRepository {
  private readonly oldRows: OldRows;
  /** The tables that `deleteOld` takes, in the order of a round. */
  readonly sweptTables: readonly (keyof OldRows)[];

  constructor(
    private readonly database: Database,
    @Inject(DATABASE_OPTIONS) private readonly periods: RetentionSettings,
  ) {
    this.oldRows = oldRowsOf(periods);
    this.sweptTables = Object.keys(this.oldRows) as (keyof OldRows)[];
  }

  /** Creates the partitions of the coming days. Returns the number of days that must be retried. */
  async ensurePartitions(): Promise<number> {
    const text = 'SELECT ensure_partitions(7) AS missing';
    const [row] = await this.database.work.query<{ missing: number }>(text);
    return row?.missing ?? 0;
  }

  /**
   * Deletes a batch of expired runs and their payloads one by one. With a retention of a day or longer, only those
   * whose day is needed a day later than expected: results stay until their day is dropped.
   */
  async ageOut(): Promise<number> {
    const text = `SELECT age_out($1, $2, $3, v7_floor(CASE
        WHEN $1 < ${daySeconds} THEN cutoff ELSE date_trunc('day', cutoff - interval '1 day', 'UTC') END)) AS runs
      FROM (VALUES (${ago('secs => $1')})) AS expired (cutoff)`;
    const bounds = [this.periods.RESULT_RETENTION_SECONDS, batchRows, batchBytes];
    const [row] = await this.database.work.query<{ runs: number }>(text, bounds);
    return row?.runs ?? 0;
  }

  /** Deletes the data of a batch of runs whose workspaces keep results for a shorter time of their own. */
  async eraseExpired(): Promise<number> {
    const [row] = await this.database.work.query<{ runs: number }>('SELECT erase_expired($1, $2) AS runs', [
      this.periods.RESULT_RETENTION_SECONDS,
      erasedRows,
    ]);
    return row?.runs ?? 0;
  }

  /** Marks a batch of objects for deletion whose run's result has expired, unless a link to them still works. */
  async releaseObjects(): Promise<number> {
    const rows = await this.database.work.query(
      `UPDATE stored_object SET delete_at = greatest(router_statement_now(), link_expires_at) WHERE key IN (
          SELECT key FROM stored_object WHERE delete_at = 'infinity' AND workspace_id IS NULL AND owner_id < v7_floor(${ago('secs => $1')})
            AND EXISTS (SELECT FROM run WHERE run.id = owner_id AND completed_at <= ${ago('secs => $1')})
          ORDER BY owner_id LIMIT $2 FOR UPDATE SKIP LOCKED
        ) RETURNING 1`,
      [this.periods.RESULT_RETENTION_SECONDS, batchRows],
    );
    return rows.length;
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
  async deleteOld(table: keyof OldRows): Promise<number> {
    // The rows are locked, so they keep their place until they are deleted. By place they are found without an index.
    const [row] = await this.database.work.query<{ rows: number }>(
      `WITH deleted AS (
          DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${table} WHERE ${this.oldRows[table]} LIMIT $1 FOR UPDATE SKIP LOCKED
          )) RETURNING 1
        ) SELECT count(*)::integer AS rows FROM deleted`,
      [batchRows],
    );
    return row?.rows ?? 0;
  }

  /**
   * Drops the partitions of one past day whose results have all expired, without deleting a row. Returns the day as
   * `2026-11-21`, or null if none can be dropped now.
   */
  async dropDay(): Promise<string | null> {
    const text = 'SELECT drop_day($1)::text AS day';
    const values = [this.periods.RESULT_RETENTION_SECONDS];
    const [row] = await this.database.work.query<{ day: string | null }>(text, values);
    return row?.day ?? null;
  }
}
