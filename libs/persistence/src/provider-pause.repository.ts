import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import type { ProviderPauseRow } from './entities/operations.entity.js';

/** Times are ISO 8601 in UTC; an operator's pause has no end. */
export interface ProviderPause extends Omit<ProviderPauseRow, 'askedBy' | 'since' | 'until'> {
  askedBy: 'operator' | 'provider';
  since: string;
  until: string | null;
}

/**
 * Stops and starts calls to a provider, on all workers. Runs that wait keep their place. An operator stops submissions
 * until further notice; a provider whose refusal says how long to stay away stops what it refused for that long.
 */
@Injectable()
export class ProviderPauseRepository {
  constructor(private readonly database: Database) {}

  /** False when it was paused already; the reason is the new one then. */
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

  /** A longer pause from before stands. False when there was one, whichever is longer. */
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

  /** Ends the pauses that providers asked for too. False when it was not paused. What waits may be taken at once. */
  async resume(provider: string, by: string): Promise<boolean> {
    const rows = await this.database.work.query(
      `WITH ended AS (DELETE FROM provider_pause WHERE provider = $1 RETURNING until > router_now() AS stood),
        woken AS (
          UPDATE outbox SET waiting = true, due_at = 'infinity' WHERE (workspace_id, run_id) IN (
            SELECT outbox.workspace_id, run_id FROM outbox JOIN run ON run.id = run_id
            WHERE outbox.provider = $1 AND queue = 'dispatch' AND run.sent_at IS NULL AND run.lease_until IS NULL AND EXISTS (SELECT 1 FROM ended)
            -- Who holds several rows must not wait for another. What is locked moves anyway.
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

  /** The pauses that have not ended. */
  async standing(): Promise<ProviderPause[]> {
    return this.database.work.query<ProviderPause>(
      // The table says `partner` for a provider's own request: the value is frozen with the schema.
      `SELECT provider, calls, CASE asked_by WHEN 'partner' THEN 'provider' ELSE asked_by END AS "askedBy", reason, ${shown('since')} AS since,
          CASE WHEN until < 'infinity' THEN ${shown('until')} END AS until
        FROM provider_pause WHERE until > router_now() ORDER BY provider, calls, asked_by`,
    );
  }
}

const shown = (time: string): string => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
