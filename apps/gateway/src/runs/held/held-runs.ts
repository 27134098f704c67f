import { RouterError } from '#errors';
import { Metrics } from '#observability';
import { announcedOutcome, type RunOutcome, RunReader, type RunResult } from '#persistence';
import { Injectable } from '@nestjs/common';
import { type AdmittedRun, noLongerKept } from '../run-admission.js';
import { RunCancellation } from '../run-cancellation.js';
import { RunWatch, unlessAway, type Watch } from '../run-watch.js';

/** A run whose caller's connection is held. */
type HeldRun = Pick<AdmittedRun, 'workspaceId' | 'modelId' | 'runId' | 'replayed'>;

/** Holds a synchronous call until its run has its outcome, the deadline is reached or the caller is gone. */
@Injectable()
export class HeldRuns {
  constructor(
    private readonly runs: RunReader,
    private readonly watches: RunWatch,
    private readonly cancellation: RunCancellation,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Admits a run and waits for its outcome. The run is watched before it is admitted: nothing that is announced of it
   * is missed, so its row is read only when the announcement did not bring the outcome. Throws `deadline_exceeded`, or
   * `client_disconnected` when `gone` aborted.
   */
  async awaitOutcome<Run extends HeldRun>(
    admit: (onAccepted: (runId: string) => void) => Promise<Run>,
    gone: AbortSignal,
  ): Promise<{ run: Run; result: RunOutcome }> {
    let watch: Watch | undefined;
    try {
      const run = await admit((runId) => (watch = this.watches.begin(runId, gone)));
      if (watch === undefined || run.replayed) {
        watch?.close();
        watch = this.watches.begin(run.runId, gone);
        // The run may be finished already.
        watch.wake();
      }
      return { run, result: (await this.awaited(run, watch)) ?? (await this.leave(run, gone.aborted)) };
    } finally {
      watch?.close();
    }
  }

  /** The outcome of the run; null when the watch ended before it. */
  private async awaited(run: HeldRun, watch: Watch): Promise<RunOutcome | null> {
    this.metrics.heldCalls.inc();
    try {
      for await (const news of watch.events()) {
        if (news === null || (news.state && news.state.stage !== 'completed')) continue;
        const result = news.outcome ? announcedOutcome(news.outcome) : await this.read(run);
        if (result !== null) return result;
      }
      return null;
    } finally {
      this.metrics.heldCalls.dec();
    }
  }

  /**
   * Null for a run that is not finished, and while the database does not answer: the run was admitted and is paid for, so
   * its caller is not sent away with an error that says that nothing happened.
   */
  private async read({ workspaceId, modelId, runId }: HeldRun): Promise<RunResult | null> {
    const result = await unlessAway(this.runs.result(workspaceId, modelId, runId));
    if (result === undefined) return null;
    // A call may join the run of a key that outlives the result.
    if (result === null || result === 'aged_out') throw noLongerKept();
    return result.stage === 'completed' ? result : null;
  }

  private async leave(run: HeldRun, isDisconnected: boolean): Promise<RunOutcome> {
    const left = await unlessAway(this.cancellation.leaveRun(run.runId, isDisconnected));
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
}
