import { setTimeout as pause } from 'node:timers/promises';
import { type Log, LOG, settlesWithin } from '#observability';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SETTINGS } from '../settings.module.js';
import type { GatewaySettings } from '../settings.js';
import { RunCancellation } from './run-cancellation.js';

const pauseMs = 250;
/** How long an unreachable database is tried. */
const giveUpAfterMs = 600_000;
/** How long a gateway that stops waits for it: longer than a statement may take by default, and well within its stop. */
const stopMs = 8_000;

/** Runs that may have been admitted although their caller got an error, because the database's answer was lost. */
@Injectable()
export class LostAdmissions implements OnApplicationShutdown {
  /** Ids of the runs that are looked for, and the work on each. */
  private readonly lookedFor = new Map<string, Promise<void>>();

  constructor(
    private readonly cancellation: RunCancellation,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /**
   * Cancels the run as soon as it appears. Its absence proves nothing before the statement timeout: until then the
   * database may still be executing the admission. Never rejects.
   */
  async withdrawRun(workspaceId: string, modelId: string, runId: string): Promise<void> {
    const work = this.cancelWhenThere(workspaceId, modelId, runId);
    this.lookedFor.set(runId, work);
    await work;
    this.lookedFor.delete(runId);
  }

  /** When the last call is answered, and before the database closes: nobody else knows that these runs are unwanted. */
  async onApplicationShutdown(): Promise<void> {
    if (await settlesWithin(Promise.all(this.lookedFor.values()), stopMs)) return;
    this.log.error(
      { run_ids: [...this.lookedFor.keys()] },
      'whether runs were admitted could not be found out',
    );
  }

  private async cancelWhenThere(workspaceId: string, modelId: string, runId: string): Promise<void> {
    const lostMs = performance.now();
    for (;;) {
      const elapsedMs = performance.now() - lostMs;
      try {
        const found = await this.cancellation.cancelRun(workspaceId, modelId, runId);
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
