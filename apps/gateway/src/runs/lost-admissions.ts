import { setTimeout as pause } from 'node:timers/promises';
import { type Log, LOG } from '#observability';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS } from '../settings.module.js';
import type { GatewaySettings } from '../settings.js';
import { RunCancellation } from './run-cancellation.js';

const pauseMs = 250;
/** How long an unreachable database is asked. */
const giveUpAfterMs = 600_000;

/** Runs whose caller was told that there is none, since nobody knew whether their admission was carried out. */
@Injectable()
export class LostAdmissions {
  constructor(
    private readonly cancellation: RunCancellation,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /**
   * Cancels the run as soon as it is there. That it is not there proves something only when the database no longer
   * carries out the statement that admits it, and it gives each statement up after its bound. Never rejects.
   */
  async withdraw(workspaceId: string, modelId: string, runId: string): Promise<void> {
    const lostMs = performance.now();
    for (;;) {
      const askedMs = performance.now() - lostMs;
      try {
        const found = await this.cancellation.request(workspaceId, modelId, runId);
        if (found !== null)
          this.log.warn({ run_id: runId, found }, 'cancelled: its admission was not answered');
        if (found !== null || askedMs > this.settings.DATABASE_STATEMENT_MS) return;
      } catch (error) {
        if (askedMs > giveUpAfterMs) {
          this.log.error({ error, run_id: runId }, 'whether a run was admitted could not be found out');
          return;
        }
      }
      await pause(pauseMs, undefined, { ref: false });
    }
  }
}
