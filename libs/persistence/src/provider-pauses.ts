import type { Database } from './database.js';

/** A provider with live runs, or one that is paused. */
export interface ProviderState {
  provider: string;
  pausedAt: string | null;
  reason: string | null;
  /** Granted and not submitted. */
  waiting: number;
  /** Submitted and not finished. */
  underWay: number;
}

/** Stops and starts submissions to a provider. Runs that wait keep their place; those under way are polled on. */
export class ProviderPauses {
  constructor(private readonly database: Database) {}

  /** False when it was paused already; the reason is the new one then. */
  async pause(provider: string, reason: string): Promise<boolean> {
    const [row] = await this.database.write<{ fresh: boolean }>(
      {
        name: 'pause_provider',
        text: `INSERT INTO provider_pause (provider, reason) VALUES ($1, $2)
          ON CONFLICT (provider) DO UPDATE SET reason = $2 RETURNING xmax = 0 AS fresh`,
      },
      [provider, reason],
    );
    return row?.fresh ?? false;
  }

  /** False when it was not paused. What waits is due at once, and the next sweep delivers it. */
  async resume(provider: string): Promise<boolean> {
    const rows = await this.database.write(
      {
        name: 'resume_provider',
        text: `WITH resumed AS (DELETE FROM provider_pause WHERE provider = $1 RETURNING provider),
          woken AS (
            UPDATE delivery SET due_at = clock_timestamp() FROM resumed
            WHERE delivery.provider = resumed.provider AND lane = 'dispatch' AND NOT dispatched
          )
          SELECT provider FROM resumed`,
      },
      [provider],
    );
    return rows.length === 1;
  }

  async list(): Promise<ProviderState[]> {
    return this.database.write<ProviderState & Record<string, unknown>>(
      {
        name: 'list_providers',
        text: `WITH live AS (
            SELECT provider, count(*) FILTER (WHERE lane = 'dispatch' AND NOT dispatched)::integer AS waiting,
              count(*) FILTER (WHERE dispatched)::integer AS under_way
            FROM delivery GROUP BY provider
          )
          SELECT provider, to_char(paused_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS "pausedAt", reason,
            coalesce(waiting, 0) AS waiting, coalesce(under_way, 0) AS "underWay"
          FROM live FULL JOIN provider_pause USING (provider) ORDER BY provider`,
      },
      [],
    );
  }
}
