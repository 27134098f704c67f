import type { Bucket } from '#errors';
import { isOneLine, isUuid } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { operators } from './list-turns.js';
import { runTimes, type Stage } from './run-facts.js';
import { standingColumns, type WorkspaceStanding } from './workspace-reader.js';

/** A workspace with what it may use, what of it is in use, and what it spent since midnight UTC. */
export interface WorkspaceState extends WorkspaceStanding {
  id: string;
  name: string;
  enabled: boolean;
  visible: string[];
  runnable: string[];
  createdAt: Date;
  files: number;
  fileLimit: number;
  fileBytes: number;
  fileBytesLimit: number;
  runsToday: number;
  succeededToday: number;
  billedMicrosToday: number;
}

/** A run of any workspace, as an operator looks for it. */
export interface OperatorRun {
  requestId: string;
  workspaceId: string;
  workspace: string;
  model: string;
  provider: string;
  stage: Stage;
  bucket: Bucket | null;
  status: number | null;
  admittedAt: Date;
  grantedAt: Date | null;
  dispatchedAt: Date | null;
  outputAt: Date | null;
  completedAt: Date | null;
  /** Why it is thought to be stuck. */
  reason: StuckReason | null;
}

/**
 * `past_deadline`: over the time that it has; `overdue`: nobody takes it up; `no_progress`: as long as that in the
 * same stage.
 */
type StuckReason = 'past_deadline' | 'overdue' | 'no_progress';

interface Page {
  /** The last of the page before. */
  after?: string | undefined;
  limit: number;
}

interface FailedFilter {
  hours: number;
  workspaceId?: string | undefined;
  provider?: string | undefined;
  bucket?: Bucket | undefined;
}

/** The reconciler and the workers normally clear both within seconds. */
const maxLate = `interval '1 minute'`;

const workspaceStates = `SELECT id, name, enabled, visible, runnable, created_at AS "createdAt", ${standingColumns},
    file_limit AS "fileLimit", file_bytes_limit::float AS "fileBytesLimit", uploads.*, today.*
  FROM workspace, LATERAL (
    SELECT count(*)::integer AS files, coalesce(sum(bytes), 0)::float AS "fileBytes"
    FROM stored_object WHERE workspace_id = workspace.id AND NOT deleting AND delete_at > router_statement_now()
  ) AS uploads, LATERAL (
    SELECT count(*)::float AS "runsToday", count(*) FILTER (WHERE outcome = 'succeeded')::float AS "succeededToday",
      coalesce(sum(billed_micros), 0)::float AS "billedMicrosToday"
    FROM audit_record
    WHERE workspace_id = workspace.id AND completed_at >= date_trunc('day', router_statement_now(), 'UTC')
  ) AS today`;

/** What operators see of all workspaces. Reads that may take long: they use the connections of lists. */
@Injectable()
export class OperatorReader {
  constructor(private readonly database: Database) {}

  /** By name, those behind `after`; `like` is a part of the name, or the id. */
  async workspaces(like: string | undefined, { after = '', limit }: Page): Promise<WorkspaceState[]> {
    return this.database.list<WorkspaceState>(operators, {
      text: `${workspaceStates}
        WHERE name > $1 AND ($2::text IS NULL OR strpos(lower(name), lower($2)) > 0 OR id::text = $2)
        ORDER BY name LIMIT $3`,
      values: [after, like ?? null, limit],
    });
  }

  /** By name or id. */
  async workspace(nameOrId: string): Promise<WorkspaceState | null> {
    // What cannot be stored names nothing, and Postgres would not take it as a parameter either.
    if (!isOneLine(nameOrId)) return null;
    const [state] = await this.database.list<WorkspaceState>(operators, {
      text: `${workspaceStates} WHERE ${isUuid(nameOrId) ? 'id' : 'name'} = $1`,
      values: [nameOrId],
    });
    return state ?? null;
  }

  /** The workspace and model of a run, as long as it or its audit record is kept. */
  async find(runId: string): Promise<{ workspaceId: string; workspace: string; model: string } | null> {
    const [row] = await this.database.list<{ workspaceId: string; workspace: string; model: string }>(
      operators,
      {
        // The audit records have an index by workspace and run only.
        text: `SELECT workspace.id AS "workspaceId", workspace.name AS workspace, found.model FROM workspace, LATERAL (
          SELECT model FROM run WHERE id = $1 AND workspace_id = workspace.id
          UNION ALL
          SELECT model FROM audit_record WHERE workspace_id = workspace.id AND run_id = $1
        ) AS found LIMIT 1`,
        values: [runId],
      },
    );
    return row ?? null;
  }

  /** Live runs that have a slot and do not come forward, oldest first. Parked ones wait for their own workspace. */
  async stuck(afterSeconds: number, { after, limit }: Page): Promise<OperatorRun[]> {
    return this.database.list<OperatorRun>(operators, {
      text: `SELECT * FROM (
          SELECT run.id AS "requestId", run.workspace_id AS "workspaceId", workspace.name AS workspace, model, run.provider,
            stage, bucket, status, ${runTimes}, CASE
              WHEN deadline_at < router_statement_now() - ${maxLate} THEN 'past_deadline'
              WHEN due_at < router_statement_now() - ${maxLate} THEN 'overdue'
              WHEN coalesce(output_at, dispatched_at, granted_at) < router_statement_now() - make_interval(secs => $1)
                THEN 'no_progress'
            END AS reason
          FROM outbox JOIN run ON run.id = run_id JOIN workspace ON workspace.id = run.workspace_id
          WHERE queue <> 'backlog' AND ($2::uuid IS NULL OR run_id > $2)
        ) AS live WHERE reason IS NOT NULL ORDER BY "requestId" LIMIT $3`,
      values: [afterSeconds, after ?? null, limit],
    });
  }

  /** Runs that failed in the last hours, newest first. */
  async failed(filter: FailedFilter, { after, limit }: Page): Promise<OperatorRun[]> {
    return this.database.list<OperatorRun>(operators, {
      text: `SELECT run_id AS "requestId", workspace_id AS "workspaceId", workspace.name AS workspace, model, provider,
          'completed' AS stage, bucket, status, ${runTimes}, NULL AS reason
        FROM audit_record JOIN workspace ON workspace.id = workspace_id
        WHERE outcome = 'failed' AND completed_at > router_statement_now() - make_interval(hours => $1)
          AND ($2::uuid IS NULL OR workspace_id = $2) AND ($3::text IS NULL OR provider = $3)
          AND ($4::text IS NULL OR bucket = $4) AND ($5::uuid IS NULL OR run_id < $5)
        ORDER BY run_id DESC LIMIT $6`,
      values: [
        filter.hours,
        filter.workspaceId ?? null,
        filter.provider ?? null,
        filter.bucket ?? null,
        after ?? null,
        limit,
      ],
    });
  }
}
