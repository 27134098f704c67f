import type { Bucket } from '#errors';
import { Injectable } from '@nestjs/common';
import { CallRepository } from './call.repository.js';
import { Database, operators } from './database.js';
import type { Run } from './entities/run.entity.js';
import type { RunTimes } from './live-run.js';
import { isSimulated, runTimes } from './run-facts.js';

/** A run of any workspace, for operators. */
export interface OperatorRun
  extends RunTimes, Pick<Run, 'workspaceId' | 'model' | 'provider' | 'stage' | 'status'> {
  requestId: string;
  workspace: string;
  bucket: Bucket | null;
  /** Whether the simulator serves it. */
  simulated: boolean;
  /** Why the run is considered stuck. Null unless stuck runs are listed. */
  reason: StuckReason | null;
}

/**
 * `past_deadline`: the time budget is exceeded. `overdue`: no worker takes the run. `no_progress`: the run has been
 * in one stage for too long.
 */
type StuckReason = 'past_deadline' | 'overdue' | 'no_progress';

interface Page {
  /** The last id of the previous page. */
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

/** Finds runs of all workspaces, for operators. These queries may be slow, so they use the connections of lists. */
@Injectable()
export class OperatorReader {
  constructor(
    private readonly database: Database,
    private readonly calls: CallRepository,
  ) {}

  /**
   * The run with this id, or the run that the HTTP call with this id admitted or joined. Found while the run or its
   * audit record is kept.
   */
  async find(id: string): Promise<OperatorRun | null> {
    const run = await this.findRun(id);
    if (run !== null) return run;
    const runId = await this.calls.runOf(id);
    return runId === null ? null : this.findRun(runId);
  }

  /**
   * Lists live runs that have a slot and make no progress, oldest first. Parked runs only wait for their own
   * workspace.
   */
  async stuck(afterSeconds: number, { after, limit }: Page): Promise<OperatorRun[]> {
    return this.database.list<OperatorRun>(
      operators,
      `SELECT * FROM (
          SELECT run.id AS "requestId", run.workspace_id AS "workspaceId", workspace.name AS workspace, model, run.provider,
            stage, bucket, status, ${isSimulated} AS simulated, ${runTimes}, CASE
              WHEN deadline_at < router_statement_now() - ${maxLate} THEN 'past_deadline'
              WHEN due_at < router_statement_now() - ${maxLate} THEN 'overdue'
              WHEN coalesce(output_at, dispatched_at, granted_at) < router_statement_now() - make_interval(secs => $1)
                THEN 'no_progress'
            END AS reason
          FROM outbox JOIN run ON run.id = run_id JOIN workspace ON workspace.id = run.workspace_id
          WHERE queue <> 'backlog' AND ($2::uuid IS NULL OR run_id > $2)
        ) AS live WHERE reason IS NOT NULL ORDER BY "requestId" LIMIT $3`,
      [afterSeconds, after, limit],
    );
  }

  /** Lists runs that failed in the last `hours`, newest first. */
  async failed(
    { hours, workspaceId, provider, bucket }: FailedFilter,
    { after, limit }: Page,
  ): Promise<OperatorRun[]> {
    return this.database.list<OperatorRun>(
      operators,
      `SELECT run_id AS "requestId", workspace_id AS "workspaceId", workspace.name AS workspace, model, provider,
          'completed' AS stage, bucket, status, simulated, ${runTimes}, NULL AS reason
        FROM audit_record JOIN workspace ON workspace.id = workspace_id
        WHERE outcome = 'failed' AND completed_at > router_statement_now() - make_interval(hours => $1)
          AND ($2::uuid IS NULL OR workspace_id = $2) AND ($3::text IS NULL OR provider = $3)
          AND ($4::text IS NULL OR bucket = $4) AND ($5::uuid IS NULL OR run_id < $5)
        ORDER BY run_id DESC LIMIT $6`,
      [hours, workspaceId, provider, bucket, after, limit],
    );
  }

  private async findRun(runId: string): Promise<OperatorRun | null> {
    const [row] = await this.database.list<OperatorRun>(
      operators,
      // Audit records are indexed by workspace and run.
      `SELECT found.*, workspace.id AS "workspaceId", workspace.name AS workspace, NULL AS reason
        FROM workspace CROSS JOIN LATERAL (
          SELECT id AS "requestId", model, provider, stage, bucket, status, ${isSimulated} AS simulated, ${runTimes}
          FROM run WHERE id = $1 AND workspace_id = workspace.id
          UNION ALL
          SELECT run_id, model, provider, 'completed', bucket, status, simulated, ${runTimes}
          FROM audit_record WHERE workspace_id = workspace.id AND run_id = $1
        ) AS found LIMIT 1`,
      [runId],
    );
    return row ?? null;
  }
}
