import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

/** What a workspace may use, and what of it is in use now. Amounts are micro-dollars. */
export interface WorkspaceStanding {
  inflight: number;
  inflightLimit: number;
  committedMicros: number;
  committedLimitMicros: number;
  backlog: number;
  backlogLimit: number;
  /** Runs that were admitted in this minute of the database's clock. */
  windowCount: number;
  windowLimit: number;
  /** Null: unlimited. */
  balanceMicros: number | null;
  heldMicros: number;
  markup: number;
}

export const standingColumns = `inflight, inflight_limit AS "inflightLimit", committed_micros::float AS "committedMicros",
  committed_limit_micros::float AS "committedLimitMicros", backlog, backlog_limit AS "backlogLimit",
  CASE WHEN is_current_window(window_started_at, date_trunc('minute', router_now())) THEN window_count ELSE 0 END AS "windowCount",
  window_limit AS "windowLimit", balance_micros::float AS "balanceMicros", held_micros::float AS "heldMicros",
  markup::float AS markup`;

/** What callers request of their own workspace. */
@Injectable()
export class WorkspaceReader {
  constructor(private readonly database: Database) {}

  async standing(workspaceId: string): Promise<WorkspaceStanding | null> {
    const [row] = await this.database.read<WorkspaceStanding>(
      `SELECT ${standingColumns} FROM workspace WHERE id = $1`,
      [workspaceId],
    );
    return row ?? null;
  }
}
