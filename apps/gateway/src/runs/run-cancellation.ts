import { setTimeout as pause } from 'node:timers/promises';
import { SETTINGS } from '#infrastructure';
import { type Log, LOG, Metrics, settlesWithin } from '#observability';
import {
  type AgedOut,
  type CancelAnswer,
  type DatabaseSettings,
  HeldRunRepository,
  recordRun,
  type Released,
  RunRepository,
} from '#persistence';
import { RunQueues, RunSignals } from '#queue';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';

/** The pause between two looks for a run whose admission was not answered. */
const pauseMs = 250;
/** How long an unreachable database is tried. */
const giveUpAfterMs = 600_000;
/** How long a gateway that stops waits for it: longer than a statement may take by default, and well within its stop. */
const stopMs = 8_000;

/** Ends runs at their caller's request or when their caller has gone, and starts those that the freed slots admit. */
@Injectable()
export class RunCancellation implements OnApplicationShutdown {
  /** Runs that may have been admitted although their caller got an error, and the search for each. */
  private readonly lost = new Map<string, Promise<void>>();

  constructor(
    private readonly runs: RunRepository,
    private readonly held: HeldRunRepository,
    private readonly queues: RunQueues,
    private readonly signals: RunSignals,
    @Inject(LOG) private readonly log: Log,
    private readonly metrics: Metrics,
    @Inject(SETTINGS) private readonly settings: Pick<DatabaseSettings, 'DATABASE_STATEMENT_MS'>,
  ) {}

  /**
   * Null for an unknown run, `aged_out` for one that is only remembered. A run that was not dispatched is finished when
   * this returns.
   */
  async cancelRun(
    workspaceId: string,
    modelId: string,
    runId: string,
  ): Promise<CancelAnswer['found'] | AgedOut | null> {
    const answer = await this.runs.requestCancel(workspaceId, modelId, runId);
    if (answer === null || answer === 'aged_out') return answer;
    if (answer.found === 'waiting')
      recordRun(runId, answer.record, this.log, this.metrics, 'cancelled before it was sent');
    await Promise.all([
      // The freed slot may have let others in.
      this.queues.passOn(answer.granted),
      // Once: however often a caller repeats the request, its run is not polled more often for it.
      answer.found === 'dispatched' && !answer.isRepeated && this.queues.runNow('poll', runId),
      answer.found === 'waiting' && this.signals.publish(runId),
    ]);
    return answer.found;
  }

  /** To be called when a held connection ends without a result: the run is withdrawn if nobody could collect it. */
  async leaveRun(runId: string, isDisconnected: boolean): Promise<Released> {
    const left = await this.held.releaseRun(runId, isDisconnected);
    if (left.found === 'withdrawn')
      recordRun(runId, left.record, this.log, this.metrics, 'withdrawn: its caller is gone');
    await this.queues.passOn(left.granted);
    return left;
  }

  /**
   * Cancels a run whose admission was not answered, as soon as it appears. Its absence proves nothing before the statement
   * timeout: until then the database may still be executing the admission. Never rejects.
   */
  async withdrawRun(workspaceId: string, modelId: string, runId: string): Promise<void> {
    const work = this.cancelWhenFound(workspaceId, modelId, runId);
    this.lost.set(runId, work);
    await work;
    this.lost.delete(runId);
  }

  /** Comes after the last call and before the database closes: no other process knows that these runs are unwanted. */
  async onApplicationShutdown(): Promise<void> {
    if (await settlesWithin(Promise.all(this.lost.values()), stopMs)) return;
    this.log.error({ run_ids: [...this.lost.keys()] }, 'whether runs were admitted could not be found out');
  }

  private async cancelWhenFound(workspaceId: string, modelId: string, runId: string): Promise<void> {
    const lostMs = performance.now();
    for (;;) {
      const elapsedMs = performance.now() - lostMs;
      try {
        const found = await this.cancelRun(workspaceId, modelId, runId);
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
