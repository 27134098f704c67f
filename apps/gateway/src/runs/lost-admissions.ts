import { setTimeout as pause } from 'node:timers/promises';
import { type Log, LOG } from '#observability';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS } from '../settings.module.js';
import type { GatewaySettings } from '../settings.js';
import { RunCancellation } from './run-cancellation.js';

const pauseMs = 250;
/** How long an unreachable database is tried. */
const giveUpAfterMs = 600_000;

/** Runs that may have been admitted although their caller got an error, because the database's answer was lost. */
@Injectable()
export class LostAdmissions {
  constructor(
    private readonly cancellation: RunCancellation,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /**
   * Cancels the run as soon as it appears. Its absence proves nothing before the statement timeout: until then the
   * database may still be executing the admission. Never rejects.
   */
  async withdraw(workspaceId: string, modelId: string, runId: string): Promise<void> {
    const lostMs = performance.now();
    for (;;) {
      const elapsedMs = performance.now() - lostMs;
      try {
        const found = await this.cancellation.request(workspaceId, modelId, runId);
        if (found !== null)
          this.log.warn({ run_id: runId, found }, 'cancelled: its admission was not answered');
        if (found !== null || elapsedMs > this.settings.DATABASE_STATEMENT_MS) return;
      } catch (error) {
        if (elapsedMs > giveUpAfterMs) {
          this.log.error({ error, run_id: runId }, 'whether a run was admitted could not be found out');
          return;
        }
      }
      await pause(pauseMs, undefined, { ref: false });
    }
  }
}
