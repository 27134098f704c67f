import { RouterError } from '#errors';
import { Metrics } from '#observability';
import { announcedOutcome, type RunOutcome, RunReader, type RunResult } from '#persistence';
import { Injectable } from '@nestjs/common';
import { answerBegun, retryAfter } from '../../http/replies.js';
import { noLongerKept } from '../joined-runs.js';
import { RunCancellation } from '../run-cancellation.js';
import type { AdmittedRun } from '../run-input.js';
import { RunWatch, unlessAway, type Watch } from '../run-watch.js';

/** A run whose caller's connection is held. */
type HeldRun = Pick<AdmittedRun, 'workspaceId' | 'modelId' | 'runId' | 'replayed'>;

/** Holds a synchronous call until its run has its outcome, the deadline is reached or the caller disconnects. */
@Injectable()
export class HeldRuns {
  constructor(
    private readonly runs: RunReader,
    private readonly watches: RunWatch,
    private readonly cancellation: RunCancellation,
    private readonly metrics: Metrics,
  ) {
    metrics.heldCalls.set(0);
  }

  /**
   * Admits a run, and holds it until its outcome, which is a promise of its own: a caller may take the run's events
   * meanwhile. The run is watched before it is admitted, so that no signal is missed,
   * and its row is read only if the signal did not carry the outcome. Throws `deadline_exceeded`, or
   * `client_disconnected` when `gone` aborted.
   */
  async holdRun<Run extends HeldRun>(
    admit: (onAccepted: (runId: string) => void) => Promise<Run>,
    gone: AbortSignal,
  ): Promise<{ run: Run; outcome: Promise<RunOutcome> }> {
    let watch: Watch | undefined;
    let run: Run;
    try {
      run = await admit((runId) => (watch = this.watches.begin(runId, gone)));
    } catch (error) {
      watch?.close();
      throw error;
    }
    if (watch === undefined || run.replayed) {
      watch?.close();
      watch = this.watches.begin(run.runId, gone);
      // The run may be finished already.
      watch.wake();
    }
    return { run, outcome: this.outcomeOf(run, watch, gone) };
  }

  private async outcomeOf(run: HeldRun, watch: Watch, gone: AbortSignal): Promise<RunOutcome> {
    try {
      return (await this.awaited(run, watch)) ?? (await this.leave(run, gone));
    } finally {
      watch.close();
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
   * Null for a run that is not finished, and while the database does not answer: the run was admitted and may be
   * billed, so its caller must not get an error that says that nothing happened.
   */
  private async read({ workspaceId, modelId, runId }: HeldRun): Promise<RunResult | null> {
    const result = await unlessAway(this.runs.result(workspaceId, modelId, runId));
    if (result === undefined) return null;
    // A key outlives its result, so a call may join a run whose result is gone.
    if (result === null || result === 'aged_out') throw noLongerKept();
    return result.stage === 'completed' ? result : null;
  }

  private async leave(run: HeldRun, gone: AbortSignal): Promise<RunOutcome> {
    const isAnswerBegun = gone.reason === answerBegun;
    const left = await unlessAway(this.cancellation.leaveRun(run.runId, gone.aborted, isAnswerBegun));
    if (gone.aborted) {
      throw new RouterError('client_disconnected', 'The caller closed the connection.', {
        internal: `run ${run.runId} ${left?.found ?? 'continues: the database did not answer'}`,
      });
    }
    const result = left?.found === 'completed' ? await this.read(run) : null;
    if (result !== null) return result;
    const pauseMs = left?.found === 'going_on' ? left.pollAfterMs : null;
    throw new RouterError(
      'deadline_exceeded',
      left?.found === 'withdrawn'
        ? 'The run did not start in time and was withdrawn.'
        : 'The run is not finished; repeat the request with the same Idempotency-Key to collect it.',
      pauseMs === null ? {} : { headers: { 'Retry-After': retryAfter(pauseMs) } },
    );
  }
}
