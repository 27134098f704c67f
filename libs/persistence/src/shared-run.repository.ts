import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import type { SharedRun } from './entities/run.entity.js';

/** Runs with a link that shows them to anyone. A link works only while the result of its run does. */
@Injectable()
export class SharedRunRepository {
  constructor(private readonly database: Database) {}

  /** The id of the run's link, which is a new one unless the run is shared already. */
  async share({
    workspaceId,
    runId,
    model,
  }: Pick<SharedRun, 'workspaceId' | 'runId' | 'model'>): Promise<string> {
    const [row] = await this.database.work.query<{ shareId: string }>(
      'SELECT share_run($1, $2, $3) AS "shareId"',
      [runId, workspaceId, model],
    );
    if (row === undefined) throw new Error('a shared run has no row');
    return row.shareId;
  }

  /** Has no effect on a run that is not shared. A new link of the run will be another one. */
  async unshare(workspaceId: string, runId: string): Promise<void> {
    await this.database.work.query('DELETE FROM shared_run WHERE run_id = $1 AND workspace_id = $2', [
      runId,
      workspaceId,
    ]);
  }

  /** The run of a link. Null for a link that was revoked, and for one of a deleted workspace. */
  async find(shareId: string): Promise<Pick<SharedRun, 'runId' | 'workspaceId' | 'model'> | null> {
    const [row] = await this.database.reads.query<SharedRun>(
      `SELECT run_id AS "runId", workspace_id AS "workspaceId", model
        FROM shared_run JOIN workspace ON workspace.id = workspace_id WHERE share_id = $1`,
      [shareId],
    );
    return row ?? null;
  }
}
