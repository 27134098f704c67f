import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import type { ProviderPauseRow } from './entities/operations.entity.js';

/** A pause of a provider. Times are ISO 8601 in UTC. `until` is null for an operator's pause, which has no end. */
export interface ProviderPause extends Omit<ProviderPauseRow, 'askedBy' | 'since' | 'until'> {
  askedBy: 'operator' | 'provider';
  /** The operator who set it, as recorded with the change. Null for a provider's pause, and once the record has expired. */
  actor: string | null;
  since: string;
  until: string | null;
}

/**
 * Pauses and resumes calls to a provider, on all workers. Waiting runs keep their place. An operator's pause stops
 * submissions until it is ended. A provider's pause stops the kind of call that it rejected, for as long as the
 * provider asked.
 */
@Injectable()
export class ProviderPauseRepository {
  constructor(private readonly database: Database) {}

  /** Pauses a provider for an operator. False if it was already paused; the reason is then replaced. */
  async pause(provider: string, reason: string, by: string): Promise<boolean> {
    const [row] = await this.database.work.query<{ fresh: boolean }>(
      `WITH noted AS (
          INSERT INTO operator_action (actor, action, subject, details)
          VALUES ($3, 'provider.pause', $1, jsonb_build_object('reason', $2::text))
        ) SELECT pause_provider($1, 'submit', 'operator', NULL, $2) AS fresh`,
      [provider, reason, by],
    );
    return row?.fresh ?? false;
  }

  /**
   * Pauses calls at the provider's request. A longer existing pause is kept. False if there already was a pause.
   */
  async pauseFor(
    provider: string,
    calls: ProviderPause['calls'],
    forMs: number,
    reason: string,
  ): Promise<boolean> {
    const [row] = await this.database.work.query<{ fresh: boolean }>(
      `SELECT pause_provider($1, $2, 'partner', $3 * interval '1 millisecond', $4) AS fresh`,
      [provider, calls, forMs, reason],
    );
    return row?.fresh ?? false;
  }

  /** How long submissions of a line stay paused at the provider's request, in milliseconds; null if they are not. */
  async pausedMs(line: string): Promise<number | null> {
    const [row] = await this.database.work.query<{ pausedMs: number | null }>(
      `SELECT max(milliseconds_left(until)) AS "pausedMs" FROM provider_pause
        WHERE provider = $1 AND calls = 'submit' AND asked_by = 'partner' AND until > router_now()`,
      [line],
    );
    return row?.pausedMs ?? null;
  }

  /**
   * Ends all pauses of a provider, including those that the provider asked for. False if it was not paused. Runs
   * that were postponed can be taken at once. The rows of the pauses stay, because they tell how long runs were not
   * due.
   */
  async resume(provider: string, by: string): Promise<boolean> {
    const rows = await this.database.work.query(
      `WITH standing AS (
          SELECT calls, asked_by, until > router_now() AS stood FROM provider_pause
          WHERE provider = $1 AND last_due(since, until) > router_now() FOR UPDATE
        ), ended AS (
          UPDATE provider_pause AS pause SET since = router_now(), until = router_now() FROM standing
          WHERE provider = $1 AND pause.calls = standing.calls AND pause.asked_by = standing.asked_by RETURNING stood
        ), woken AS (
          UPDATE outbox SET waiting = true, due_at = 'infinity' WHERE (workspace_id, run_id) IN (
            SELECT outbox.workspace_id, run_id FROM outbox JOIN run ON run.id = run_id
            WHERE outbox.provider = ANY (lines_of($1)) AND queue = 'dispatch' AND run.sent_at IS NULL AND run.lease_until IS NULL AND EXISTS (SELECT 1 FROM ended)
            -- A statement that holds several rows must not wait for another row. A locked row is being moved anyway.
            FOR NO KEY UPDATE OF outbox SKIP LOCKED
          )
        ), noted AS (
          INSERT INTO operator_action (actor, action, subject, details) VALUES ($2, 'provider.resume', $1, '{}')
        )
        SELECT FROM ended WHERE stood`,
      [provider, by],
    );
    return rows.length > 0;
  }

  /** Lists the pauses that have not ended: those of providers, or those that stop the runs of a line. */
  async standing(line?: string): Promise<ProviderPause[]> {
    return this.database.work.query<ProviderPause>(
      // The table stores `partner` for a provider's own request, because the value is frozen with the schema.
      `SELECT provider, calls, CASE asked_by WHEN 'partner' THEN 'provider' ELSE asked_by END AS "askedBy", reason, ${shown('since')} AS since,
          CASE WHEN until < 'infinity' THEN ${shown('until')} END AS until,
          CASE asked_by WHEN 'operator' THEN (
            SELECT actor FROM operator_action WHERE subject = provider AND action = 'provider.pause' ORDER BY at DESC, id DESC LIMIT 1
          ) END AS actor
        FROM provider_pause WHERE until > router_now() AND CASE
          WHEN $1::text IS NULL THEN strpos(provider, '@') = 0
          ELSE provider = $1 OR (provider = provider_of($1) AND asked_by = 'operator') END
        ORDER BY provider, calls, asked_by`,
      [line],
    );
  }
}

const shown = (time: string): string => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
