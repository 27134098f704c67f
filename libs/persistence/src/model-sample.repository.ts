import { Inject, Injectable } from '@nestjs/common';
import { Database } from './database.js';
import type { ModelSample } from './entities/run.entity.js';
import type { KeepResult } from './kept-run.repository.js';
import { DATABASE_OPTIONS, type RetentionSettings } from './settings.js';

/** A model has at most this many samples. */
export const maxSamples = 12;

/** `samples`: the model has `maxAllowed` of them already. `not_allowed`: the workspace does not allow samples. */
interface PinResult {
  result: KeepResult['result'] | 'samples' | 'not_allowed';
  maxAllowed: number | null;
}

/** Runs that operators show to every workspace as samples of their model: see `pin_sample`. */
@Injectable()
export class ModelSampleRepository {
  constructor(
    private readonly database: Database,
    @Inject(DATABASE_OPTIONS)
    private readonly settings: Pick<RetentionSettings, 'RESULT_RETENTION_SECONDS'>,
  ) {}

  /** `objects` are the run's stored objects with their sizes. Null for an unknown run. */
  async pin(
    { workspaceId, requestId, model }: { workspaceId: string; requestId: string; model: string },
    objects: readonly { key: string; bytes: number }[],
    by: string,
  ): Promise<PinResult | null> {
    const [row] = await this.database.work.query<PinResult>(
      'SELECT result, max_allowed::float8 AS "maxAllowed" FROM pin_sample($1, $2, $3, $4, $5, $6, $7, $8)',
      [
        workspaceId,
        requestId,
        model,
        objects.map(({ key }) => key),
        objects.map(({ bytes }) => bytes),
        this.settings.RESULT_RETENTION_SECONDS,
        maxSamples,
        by,
      ],
    );
    return row ?? null;
  }

  /**
   * Revokes the link of a sample, because every workspace may know it. The run stays kept. Has no effect on other
   * runs.
   */
  async unpin(runId: string, by: string): Promise<void> {
    await this.database.work.query(
      `WITH unpinned AS (
          DELETE FROM shared_run USING model_sample WHERE model_sample.run_id = $1 AND shared_run.share_id = model_sample.share_id
            RETURNING shared_run.run_id, workspace_id, shared_run.model
        )
        INSERT INTO operator_action (actor, action, subject, details)
        SELECT $2, 'sample.unpin', run_id::text, jsonb_build_object('workspace', name, 'model', model)
        FROM unpinned JOIN workspace ON id = workspace_id`,
      [runId, by],
    );
  }

  /** The samples of a model, newest first. */
  list(model: string): Promise<Pick<ModelSample, 'shareId' | 'pinnedAt'>[]> {
    return this.database.reads.query<Pick<ModelSample, 'shareId' | 'pinnedAt'>>(
      'SELECT share_id AS "shareId", pinned_at AS "pinnedAt" FROM model_sample WHERE model = $1 ORDER BY pinned_at DESC LIMIT $2',
      [model, maxSamples],
    );
  }
}
