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

/** Pause between two checks for a run whose admission was not answered. */
const pauseMs = 250;
/** How long to keep trying while the database is unreachable. */
const giveUpAfterMs = 600_000;
/**
 * How long a stopping gateway waits for these checks: longer than a statement may take by default, and well within
 * the stop.
 */
const stopMs = 8_000;

/** Ends runs when their caller requests it or disconnects, and starts the runs that get the freed slots. */
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
   * Returns null for an unknown run, and `aged_out` for one whose result has aged out. A run that was not dispatched
   * is finished when this returns.
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
    // Only the first request, so that a caller cannot cause more polls by repeating it.
    const isDispatched = answer.found === 'dispatched' && !answer.isRepeated;
    await Promise.all([
      // The freed slot may have admitted other runs.
      this.queues.passOn(answer.granted),
      isDispatched && this.queues.runNow('poll', runId),
      // Tells callers that the run has ended, or its worker to stop an event stream.
      (isDispatched || answer.found === 'waiting') && this.signals.publish(runId),
    ]);
    return answer.found;
  }

  /**
   * Call this when a held connection ends without a result. It withdraws the run if the run could never be collected.
   * After the beginning of an answer, no client repeats the call by itself.
   */
  async leaveRun(runId: string, isDisconnected: boolean, isAnswerBegun = false): Promise<Released> {
    if (isAnswerBegun) await this.held.forgetUnkeyed(runId);
    const left = await this.held.releaseRun(runId, isDisconnected);
    if (left.found === 'withdrawn')
      recordRun(runId, left.record, this.log, this.metrics, 'withdrawn: the result could not be collected');
    if (left.found === 'going_on') await this.signals.publish(runId);
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

  /**
   * Runs after the last call and before the database closes, because no other process knows that these runs are
   * unwanted.
   */
  async onApplicationShutdown(): Promise<void> {
    if (await settlesWithin(Promise.all(this.lost.values()), stopMs)) return;
    this.log.error({ run_ids: [...this.lost.keys()] }, 'could not find out whether runs were admitted');
  }

  private async cancelWhenFound(workspaceId: string, modelId: string, runId: string): Promise<void> {
    const lostMs = performance.now();
    for (;;) {
      const elapsedMs = performance.now() - lostMs;
      try {
        const found = await this.cancelRun(workspaceId, modelId, runId);
        if (found !== null)
          this.log.warn({ run_id: runId, found }, 'cancelled a run whose admission was not answered');
        if (found !== null || elapsedMs > this.settings.DATABASE_STATEMENT_MS) return;
      } catch (error) {
        if (elapsedMs > giveUpAfterMs) {
          this.log.error({ error, run_id: runId }, 'could not find out whether a run was admitted');
          return;
        }
      }
      await pause(pauseMs, undefined, { ref: false });
    }
  }
}
