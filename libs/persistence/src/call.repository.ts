import { Injectable } from '@nestjs/common';
import { Database, operators } from './database.js';

/** The number of joined calls that a run keeps. */
const maxJoined = 20;
/** The id of a run is made after that of its call, and no later than this: a call may take ten minutes to arrive. */
const maxAdmissionMs = 15 * 60_000;
/** How far a gateway's clock may be set back between the two. */
const maxSetBackMs = 60_000;

/** Finds runs by the ids of the HTTP calls that admitted or joined them. */
@Injectable()
export class CallRepository {
  constructor(private readonly database: Database) {}

  /** Records that a call joined a run. Only the last twenty of a run are kept. */
  async noteJoin(workspaceId: string, runId: string, callId: string): Promise<void> {
    await this.database.work.query(
      `WITH older AS MATERIALIZED (
          SELECT call_id FROM joined_call WHERE run_id = $2 ORDER BY call_id DESC OFFSET $4
        ), forgotten AS (
          DELETE FROM joined_call WHERE workspace_id = $1 AND call_id IN (SELECT call_id FROM older)
        )
        INSERT INTO joined_call (workspace_id, run_id, call_id) VALUES ($1, $2, $3)`,
      [workspaceId, runId, callId, maxJoined - 1],
    );
  }

  /**
   * The run that a call admitted or joined, or null. Without a workspace, runs of all workspaces are searched. Joined
   * calls are found as long as their run is remembered, admitting ones as long as the audit record.
   */
  async runOf(callId: string, workspaceId?: string): Promise<string | null> {
    const calledMs = Number.parseInt(callId.replaceAll('-', '').slice(0, 12), 16);
    const [row] = await this.database.list<{ runId: string }>(
      workspaceId ?? operators,
      `SELECT run_id AS "runId" FROM joined_call WHERE call_id = $1::uuid AND workspace_id = ANY (${spaces})
        UNION ALL
        SELECT run_id FROM audit_record WHERE request_id = $1 AND workspace_id = ANY (${spaces})
        UNION ALL
        SELECT run_id FROM outbox JOIN run ON run.id = run_id
          WHERE outbox.workspace_id = ANY (${spaces}) AND run_id BETWEEN $3 AND $4 AND run.id BETWEEN $3 AND $4
            AND run.call ->> 'requestId' = $1::text
        LIMIT 1`,
      [
        callId,
        workspaceId === undefined ? null : [workspaceId],
        firstId(calledMs - maxSetBackMs),
        firstId(calledMs + maxAdmissionMs),
      ],
    );
    return row?.runId ?? null;
  }
}

const spaces = 'coalesce($2::uuid[], ARRAY(SELECT id FROM workspace))';

/** The lowest UUID v7 of this time. */
function firstId(ms: number): string {
  const hex = Math.min(Math.max(ms, 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
