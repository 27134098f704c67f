import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { Metrics, withTimeout } from '#observability';
import { announcedOutcome, type RunOutcome, RunReader, type RunResult } from '#persistence';
import { Inject, Injectable } from '@nestjs/common';
import { type AdmittedRun, noLongerKept } from '../run-admission.js';
import { RunCancellation } from '../run-cancellation.js';
import type { HeldSettings } from './settings.js';
import { type Watch, WakeUps } from './wake-ups.js';

/** Whose connection is held, and for which run. */
type HeldRun = Pick<AdmittedRun, 'workspaceId' | 'modelId' | 'runId' | 'replayed'>;

/** Holds a synchronous call until its run has its outcome, the deadline is reached or the caller is gone. */
@Injectable()
export class HeldRuns {
  constructor(
    private readonly runs: RunReader,
    private readonly wakeUps: WakeUps,
    private readonly cancellation: RunCancellation,
    @Inject(SETTINGS) private readonly settings: HeldSettings,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Admits a run and waits for its outcome. The run is watched before it is admitted: nothing that is announced of it
   * is missed, so its row is read only when the announcement did not bring the outcome. Throws `deadline_exceeded`, or
   * `client_disconnected` when `disconnected` aborted.
   */
  async outcome<Run extends HeldRun>(
    admit: (onAccepted: (runId: string) => void) => Promise<Run>,
    disconnected: AbortSignal,
  ): Promise<{ run: Run; result: RunOutcome }> {
    let watch: Watch | undefined;
    try {
      const run = await admit((runId) => (watch = this.wakeUps.watch(runId)));
      if (run.replayed) {
        watch?.end();
        watch = this.wakeUps.watch(run.runId);
      }
      return { run, result: await this.hold(run, watch as Watch, disconnected) };
    } finally {
      watch?.end();
    }
  }

  private async hold(run: HeldRun, watch: Watch, disconnected: AbortSignal): Promise<RunOutcome> {
    this.metrics.heldCalls.inc();
    const result = await withTimeout(this.settings.SYNC_DEADLINE_MS, this.wakeUps.stopping, (ended) =>
      this.wait(run, watch, AbortSignal.any([ended, disconnected])),
    ).finally(() => this.metrics.heldCalls.dec());
    return result ?? this.leave(run, disconnected.aborted);
  }

  private async wait(run: HeldRun, watch: Watch, signal: AbortSignal): Promise<RunOutcome | null> {
    // A run that this call joined may be finished already.
    let result: RunOutcome | null = run.replayed ? await this.read(run) : null;
    while (result === null && !signal.aborted) {
      const news = await watch.next(signal);
      if (signal.aborted && !news) break;
      result = news ? announcedOutcome(news) : await this.read(run);
    }
    return result;
  }

  /** A read that the database does not answer is repeated at the next wake-up. */
  private read(run: HeldRun): Promise<RunResult | null> {
    return unlessAway(this.finished(run));
  }

  private async leave(run: HeldRun, isDisconnected: boolean): Promise<RunOutcome> {
    const left = await unlessAway(this.cancellation.release(run.runId, isDisconnected));
    if (isDisconnected) {
      throw new RouterError('client_disconnected', 'The caller closed the connection.', {
        internal: `run ${run.runId} ${left?.found ?? 'goes on: the database did not answer'}`,
      });
    }
    const result = left?.found === 'completed' ? await this.read(run) : null;
    if (result !== null) return result;
    const pauseMs = left?.found === 'going_on' ? left.pollAfterMs : null;
    throw new RouterError(
      'deadline_exceeded',
      left?.found === 'withdrawn'
        ? 'The run was not started in time and was withdrawn.'
        : 'The run is not finished; the same request with the same Idempotency-Key collects it.',
      pauseMs === null ? {} : { headers: { 'Retry-After': String(Math.max(1, Math.ceil(pauseMs / 1000))) } },
    );
  }

  private async finished({ workspaceId, modelId, runId }: HeldRun): Promise<RunResult | null> {
    const result = await this.runs.result(workspaceId, modelId, runId);
    // A call may join the run of a key that outlives the result.
    if (result === null || result === 'aged_out') throw noLongerKept();
    return result.stage === 'completed' ? result : null;
  }
}

/**
 * Null when the database does not answer. The run was admitted and is paid for: its caller is not sent away with an error
 * that says that nothing happened.
 */
async function unlessAway<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RouterError && error.bucket === 'service_unavailable') return null;
    throw error;
  }
}
