import { Inject, Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { DATABASE_OPTIONS, type RetentionSettings, tombstoneSeconds } from './settings.js';

/** Bounds of one call, so that none comes near the time limit of a statement. */
const batchRows = 500;
const batchBytes = 64 * 1024 * 1024;
/** How long the codes and sessions of the console are listed after their end. */
const endedSessionDays = 30;

/**
 * What has to be done now and then so that the tables stay as they should be. Each verb does one short batch
 * and says how much that was; 0 means that nothing is left, or that another worker is at it. The clock is
 * `router_statement_now()`: an index can be searched with it, unlike with `router_now()`.
 */
@Injectable()
export class RetentionRepository {
  constructor(
    private readonly database: Database,
    @Inject(DATABASE_OPTIONS) private readonly periods: RetentionSettings,
  ) {}

  /** Makes the partitions of the coming days. Returns how many days have to be tried again. */
  async ensurePartitions(): Promise<number> {
    const [row] = await this.database.write<{ missing: number }>('SELECT ensure_partitions(7) AS missing');
    return row?.missing ?? 0;
  }

  /** Forgets keys that are past their 24 hours. */
  async deleteExpiredKeys(): Promise<number> {
    const rows = await this.database.write(
      `DELETE FROM idempotency_key WHERE (workspace_id, key) IN (
          SELECT workspace_id, key FROM idempotency_key WHERE expires_at <= router_statement_now()
          LIMIT $1 FOR UPDATE SKIP LOCKED
        ) RETURNING run_id`,
      [batchRows],
    );
    return rows.length;
  }

  /** Deletes runs whose result has aged out, with their payloads, and leaves their tombstones. */
  async ageOut(): Promise<number> {
    const [row] = await this.database.write<{ runs: number }>('SELECT age_out($1, $2, $3) AS runs', [
      this.periods.RESULT_RETENTION_SECONDS,
      batchRows,
      batchBytes,
    ]);
    return row?.runs ?? 0;
  }

  async deleteTombstones(): Promise<number> {
    const rows = await this.database.write(
      `DELETE FROM tombstone WHERE run_id IN (
          SELECT run_id FROM tombstone WHERE completed_at <= router_statement_now() - make_interval(secs => $1)
          ORDER BY completed_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ) RETURNING run_id`,
      [this.periods.RESULT_RETENTION_SECONDS + tombstoneSeconds, batchRows],
    );
    return rows.length;
  }

  /** Webhooks that ended are listed as long as their run is remembered. */
  async deleteOldWebhooks(): Promise<number> {
    const rows = await this.database.write(
      // As with audit records.
      `DELETE FROM webhook WHERE run_id IN (
          SELECT run_id FROM webhook
          WHERE run_id < v7_floor(router_statement_now() - make_interval(secs => $1))
            AND ended_at <= router_statement_now() - make_interval(secs => $1)
          ORDER BY run_id LIMIT $2 FOR UPDATE SKIP LOCKED
        ) RETURNING run_id`,
      [this.periods.RESULT_RETENTION_SECONDS + tombstoneSeconds, batchRows],
    );
    return rows.length;
  }

  /** Drops one day that is over and empty. Returns it as `2026-11-21`; null when none can be dropped now. */
  async dropDay(): Promise<string | null> {
    const [row] = await this.database.write<{ day: string | null }>('SELECT drop_day()::text AS day');
    return row?.day ?? null;
  }

  async deleteOldLedgerEntries(): Promise<number> {
    const rows = await this.database.write(
      `DELETE FROM ledger_entry WHERE (workspace_id, id) IN (
          SELECT workspace_id, id FROM ledger_entry WHERE at <= router_statement_now() - make_interval(months => $1)
          LIMIT $2 FOR UPDATE SKIP LOCKED
        ) RETURNING id`,
      [this.periods.LEDGER_RETENTION_MONTHS, batchRows],
    );
    return rows.length;
  }

  /** Deletes keys that ended before every record that names them, and codes and sessions that ended a month ago. */
  async deleteEndedKeys(): Promise<number> {
    const rows = await this.database.write(
      `DELETE FROM api_key WHERE id IN (
          SELECT id FROM api_key
          WHERE session_until <= router_statement_now() - make_interval(days => $1)
            OR expires_at <= router_statement_now() - make_interval(months => $2)
            OR revoked_at <= router_statement_now() - make_interval(months => $2)
          LIMIT $3 FOR UPDATE SKIP LOCKED
        ) RETURNING id`,
      [endedSessionDays, this.periods.LEDGER_RETENTION_MONTHS, batchRows],
    );
    return rows.length;
  }

  async deleteOldAuditRecords(): Promise<number> {
    const rows = await this.database.write(
      `DELETE FROM audit_record WHERE (workspace_id, run_id) IN (
          SELECT workspace_id, run_id FROM audit_record
          WHERE completed_at <= router_statement_now() - make_interval(months => $1)
          LIMIT $2 FOR UPDATE SKIP LOCKED
        ) RETURNING run_id`,
      [this.periods.LEDGER_RETENTION_MONTHS, batchRows],
    );
    return rows.length;
  }
}
