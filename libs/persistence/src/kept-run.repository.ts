import { Inject, Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { DATABASE_OPTIONS, type RetentionSettings } from './settings.js';

/** `kept`, or why the run isn't. `period`: the workspace keeps results for a shorter time of its own. */
export interface KeepResult {
  result: 'kept' | 'live' | 'failed' | 'expired' | 'period' | 'files' | 'bytes';
  /** The limit that was reached, for `files` and `bytes`. */
  maxAllowed: number | null;
}

/** Runs that a workspace keeps without expiry: see `keep_run`. */
@Injectable()
export class KeptRunRepository {
  constructor(
    private readonly database: Database,
    @Inject(DATABASE_OPTIONS)
    private readonly settings: Pick<RetentionSettings, 'RESULT_RETENTION_SECONDS'>,
  ) {}

  /** `objects` are the run's stored objects with their sizes. Null for an unknown run. */
  async keep(
    workspaceId: string,
    runId: string,
    objects: readonly { key: string; bytes: number }[],
  ): Promise<KeepResult | null> {
    const [row] = await this.database.work.query<KeepResult>(
      'SELECT result, max_allowed::float8 AS "maxAllowed" FROM keep_run($1, $2, $3, $4, $5)',
      [
        workspaceId,
        runId,
        objects.map(({ key }) => key),
        objects.map(({ bytes }) => bytes),
        this.settings.RESULT_RETENTION_SECONDS,
      ],
    );
    return row ?? null;
  }

  /** False if the run was not kept. */
  async unkeep(workspaceId: string, runId: string): Promise<boolean> {
    const [row] = await this.database.work.query<{ was: boolean }>('SELECT unkeep_run($1, $2) AS was', [
      workspaceId,
      runId,
    ]);
    return row?.was ?? false;
  }
}
