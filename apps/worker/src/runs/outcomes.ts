import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { failpoint, type Log, LOG, Metrics, noteCall } from '#observability';
import {
  announcement,
  type ClaimedRun,
  DispatchRepository,
  type Ending,
  lineOf,
  type LiveRun,
  type PayloadBody,
  ProviderPauseRepository,
  recordRun,
  RunRepository,
  type SweptRun,
  type Used,
} from '#persistence';
import { type Handle, type ProviderFailure, type ProviderOutput, toRejection } from '#providers';
import { done, type QueueName, RunQueues, RunSignals } from '#queue';
import { runKeys } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { findAssets } from '../bytes/found-assets.js';
import { Payloads } from '../bytes/payloads.js';
import type { WorkerSettings } from '../settings.js';
import { type HeldOutcome, HeldOutcomes, type Result } from './held-outcomes.js';
import type { EndingRun, OngoingRun } from './ongoing-run.js';

/** Pause before an unread reply is read again. */
export const readAgainMs = 2_000;

/** The result of a submission: done, or the run waits in a line and may be taken in `afterMs`. */
export type Submitted = typeof done | { kind: 'waits'; line: string; afterMs: number };

/**
 * Writes the outcome of a call to a provider: a handle to poll, an output or a failure. Then it signals the
 * requests that wait for the run and enqueues the next steps: polls, copies, and runs that were granted a
 * slot.
 */
@Injectable()
export class Outcomes {
  constructor(
    private readonly runs: RunRepository,
    private readonly dispatches: DispatchRepository,
    private readonly payloads: Payloads,
    private readonly queues: RunQueues,
    private readonly signals: RunSignals,
    private readonly pauses: ProviderPauseRepository,
    private readonly metrics: Metrics,
    private readonly held: HeldOutcomes,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'PROVIDER_MAX_PAUSE_MS'>,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /** Saves the handle of a submitted run. The first poll is due in `afterMs`, or now if cancelled. */
  async pending(run: OngoingRun, handle: Handle, afterMs: number): Promise<typeof done> {
    const { runId, epoch } = run;
    const saved = await this.held.hold({ kind: 'handle', run: factsOf(run), handle, afterMs }, () =>
      this.runs.saveHandle(runId, epoch, handle, afterMs, run.reportedMicros),
    );
    await failpoint('dispatch.afterHandle', runId);
    if (saved) await this.enqueue('poll', run, saved.cancelRequested ? 0 : afterMs);
    else
      this.log.error(
        { run_id: runId, handle },
        'a handle arrived too late: this worker had lost its claim on the run',
      );
    return done;
  }

  /** The provider has finished. The outcome is written at once, or after the assets are copied. */
  async takeOutput(run: OngoingRun, result: Result): Promise<typeof done> {
    return this.held.hold({ kind: 'output', run: factsOf(run), result }, () => this.saveOutput(run, result));
  }

  private async saveOutput(run: OngoingRun, { output, lacksFiles }: Result): Promise<typeof done> {
    const { runId, epoch } = run;
    const { mediaType } = output;
    const hasAssets = !('storedAs' in output.body) && findAssets(output.body, run.facts.assets).length > 0;
    const body = await this.keepOutput(runId, output);
    if (!hasAssets) {
      // Unless the provider reports a cost, nothing is billed for a result that brought nothing.
      const used = lacksFiles ? { ...run, arrivedMicros: 0 } : run;
      await this.end(used, { outcome: 'succeeded', mediaType, body });
    } else if (await this.runs.keepOutput(runId, epoch, mediaType, body, run.reportedMicros)) {
      await failpoint('results.afterKeep', runId);
      await this.enqueue('assets', run, 0);
    } else
      this.log.info(
        { run_id: runId },
        'an output arrived too late: this worker had lost its claim on the run',
      );
    return done;
  }

  /**
   * The provider provably did not accept the run, or nothing was sent. The claim is released and the run waits
   * again.
   */
  async postpone(run: OngoingRun, afterMs: number): Promise<Submitted> {
    const { runId, epoch } = run;
    const boundedMs = await this.held.hold({ kind: 'postponed', run: factsOf(run), afterMs }, () =>
      this.dispatches.postpone(runId, epoch, afterMs),
    );
    return boundedMs === null ? done : { kind: 'waits', line: lineOf(run), afterMs: boundedMs };
  }

  /** The provider provably did not accept the run, and the run moves to its next server, if it is still ours. */
  async fallBack(run: OngoingRun): Promise<Submitted> {
    const line = await this.held.hold({ kind: 'fallback', run: factsOf(run) }, () =>
      this.dispatches.fallBack(run.runId, run.epoch),
    );
    return line === null ? done : { kind: 'waits', line, afterMs: 0 };
  }

  /** Saves an outcome that a former process held. The claim decides: a run that was claimed since then is not changed. */
  async save(outcome: HeldOutcome): Promise<void> {
    const { run } = outcome;
    switch (outcome.kind) {
      case 'handle':
        await this.pending(run, outcome.handle, outcome.afterMs);
        return;
      case 'output':
        await this.takeOutput(run, outcome.result);
        return;
      case 'ending':
        await this.finishRun(run, outcome.ending, outcome.note);
        return;
      case 'postponed':
        await this.postpone(run, outcome.afterMs);
        return;
      case 'fallback':
        await this.fallBack(run);
    }
  }

  /** The time budget, or the patience of the caller, ran out before the provider accepted the run. */
  async failUnsent(run: OngoingRun): Promise<typeof done> {
    const pausedMs = run.facts.patienceMs === undefined ? null : await this.pauses.pausedMs(lineOf(run));
    return this.failRun(run, {
      class: 'provider_unavailable',
      retry: 'never',
      ...(pausedMs !== null && { reply: { status: 429, afterMs: pausedMs } }),
      note: 'not accepted within the time budget',
    });
  }

  /** A worker ended before it saved the outcome of a submission. The provider may have accepted it, so it is not repeated. */
  async giveUp(run: SweptRun): Promise<void> {
    noteCall(run.runId, run.facts.callId);
    const ending = internalFailure(
      'Outcome unknown: the provider may have received this run, so it was not submitted again.',
    );
    if (await this.finishRun(run, ending, 'abandoned submission')) {
      const { runId, provider } = run;
      this.metrics.dispatchUnknown.inc({ provider });
      this.log.error(
        { run_id: runId, provider },
        'a worker ended before it saved the outcome of a submission; the run failed, and its outcome at the provider is unknown',
      );
    }
  }

  /** The limit on committed spend was lowered while the run waited. A new call at this price gets the same error. */
  async endUnaffordable(run: ClaimedRun): Promise<void> {
    await this.finishRun(
      run,
      {
        outcome: 'failed',
        bucket: 'concurrency_limit_exceeded',
        status: 429,
        detail:
          'This call alone could cost more than the workspace’s limit on committed spend; waiting will not help.',
        billable: false,
      },
      'could cost more than the lowered limit on committed spend',
    );
  }

  /** The workspace deleted the key that the run would use. `submitted`: the provider may still complete the run. */
  async endWithoutKey(run: OngoingRun, submitted?: 'submitted'): Promise<typeof done> {
    const ending = submitted
      ? { bucket: 'provider_error', status: 502, detail: keyDeletedLater }
      : { bucket: 'not_enabled', status: 403, detail: keyDeleted };
    await this.finishRun(run, { outcome: 'failed', billable: false, ...ending } as Ending, 'own key deleted');
    return done;
  }

  /**
   * Counts replies that reject our account, which alerts the operator. A rejected key of a workspace does not. In a
   * poll they do not end the run.
   */
  countAccountTrouble({ provider, facts }: LiveRun, failure: ProviderFailure): void {
    if (failure.class === 'provider_account' && facts.ownKey === undefined)
      this.metrics.accountTrouble.inc({ provider });
  }

  /** A rejection with a time to wait (Retry-After) pauses submissions or polls in the run's line on every worker. */
  async pauseCalls(run: LiveRun, calls: 'submit' | 'poll', failure: ProviderFailure): Promise<void> {
    const { provider } = run;
    const { class: failureClass, afterMs = 0, note = 'a rejection' } = failure;
    if (failureClass !== 'provider_unavailable' || afterMs === 0) return;
    if (run.facts.ownKey === undefined) this.metrics.retryAfters.inc({ provider, calls });
    const forMs = Math.min(afterMs, this.settings.PROVIDER_MAX_PAUSE_MS);
    const reason = `${note}, asked for ${afterMs / 1000} s`;
    try {
      if (await this.pauses.pauseFor(lineOf(run), calls, forMs, reason))
        this.log.warn({ provider, calls, for_ms: forMs, note }, 'a provider is paused after Retry-After');
    } catch (error) {
      // Other runs may each be rejected once. This run waits anyway.
      this.log.warn(
        { error, provider, calls },
        "could not record a provider's pause; other runs will still call it",
      );
    }
  }

  async failRun(run: OngoingRun, failure: ProviderFailure): Promise<typeof done> {
    this.countAccountTrouble(run, failure);
    const { fields, ...plain } = failure;
    try {
      await this.finishRun(run, failedEnding(run, failure), failure.note);
    } catch (error) {
      // An outage is temporary, but fields that the database rejects are rejected every time.
      if (!fields || error instanceof RouterError) throw error;
      this.log.error(
        { error, run_id: run.runId },
        "could not write a failure's error fields; writing the failure without them",
      );
      await this.finishRun(run, failedEnding(run, plain), failure.note);
    }
    return done;
  }

  /** The provider was stopped in the middle of an event stream, because the caller cancelled the run or left. */
  async endCancelled(run: OngoingRun): Promise<typeof done> {
    await this.finishRun(run, { outcome: 'cancelled', billable: isUsed(run) });
    return done;
  }

  /** Fails the run with an internal error. `note` gives the reason in the log. */
  async failInternally(run: EndingRun, note: string): Promise<typeof done> {
    await this.finishRun(run, internalFailure('This run could not be processed.'), note);
    return done;
  }

  /** The stored input could not be read for minutes. */
  async loseInput(run: EndingRun): Promise<typeof done> {
    await this.finishRun(run, internalFailure('The input of this run could not be read.'), 'unread input');
    return done;
  }

  /** The provider's answer is missing from the store, and no other copy exists. */
  async loseAnswer(run: EndingRun, note: string): Promise<typeof done> {
    await this.finishRun(run, internalFailure('The provider’s answer was lost.'), note);
    return done;
  }

  /** Returns true if this write decided the outcome. */
  async finishRun(run: EndingRun, ending: Ending, note?: string): Promise<boolean> {
    return this.held.hold({ kind: 'ending', run: factsOf(run), ending, note }, () =>
      this.end(run, ending, note),
    );
  }

  private async end(run: EndingRun, ending: Ending, note?: string): Promise<boolean> {
    await failpoint('finish.beforeCommit', run.runId);
    const finished = await this.runs.finishRun(run, ending, run);
    await failpoint('finish.afterCommit', run.runId);
    if (finished.won) {
      recordRun(run.runId, finished.record, this.log, this.metrics, note);
      const isHeld = finished.record.delivery === 'sync';
      await this.signals.publish(run.runId, isHeld ? announcement(ending, finished.record) : undefined);
    } else {
      this.log.info(
        { run_id: run.runId, note },
        'an outcome arrived too late: this worker had lost its claim on the run',
      );
    }
    await this.queues.passOn(finished.granted);
    return finished.won;
  }

  /**
   * The reply is stored but not yet read. Makes the run due again in `readAgainMs`; until now its due time was that
   * of the first attempt.
   */
  async readLater(run: OngoingRun): Promise<typeof done> {
    await this.runs.leaveToReconciler(run, readAgainMs);
    await this.enqueue('poll', run, readAgainMs);
    return done;
  }

  private async enqueue(queue: QueueName, run: OngoingRun, delayMs: number): Promise<void> {
    const { runId } = run;
    const [accepted] = await this.queues.enqueue([{ queue, provider: lineOf(run), runId, delayMs }]);
    if (!accepted) await this.runs.leaveToReconciler(run, delayMs);
  }

  private async keepOutput(runId: string, { mediaType, body, keptAs }: ProviderOutput): Promise<PayloadBody> {
    if ('storedAs' in body) return body;
    if (keptAs !== undefined) return { storedAs: keptAs };
    return this.payloads.keepBody(runKeys.reply(runId), runId, mediaType, body);
  }
}

/** The facts with which an outcome is saved. The run may have more, such as its input. */
function factsOf(run: EndingRun): OngoingRun {
  const { runId, epoch, workspaceId, provider, model, facts } = run as OngoingRun;
  const { reportedMicros, arrivedMicros, written } = run;
  return { runId, epoch, workspaceId, provider, model, facts, reportedMicros, arrivedMicros, written };
}

const keyDeleted = 'The workspace deleted its own key of the provider before the run was sent.';
const keyDeletedLater =
  'The workspace deleted its own key of the provider while the run was in progress, so its result cannot be fetched.';
const keyRejected = 'The provider rejected the workspace’s own key, or the account of that key.';

const internalFailure = (detail: string): Ending => ({
  outcome: 'failed',
  bucket: 'internal_error',
  status: 500,
  detail,
  billable: false,
});

const failedEnding = (run: OngoingRun, failure: ProviderFailure): Ending => ({
  outcome: 'failed',
  ...toRejection(failure),
  ...(run.facts.patienceMs !== undefined && { reply: failure.reply }),
  ...(run.facts.ownKey !== undefined && failure.class === 'provider_account' && { detail: keyRejected }),
  billable:
    isUsed(run) || (failure.class === 'content_policy' && run.facts.chargesOnPolicyRejection === 'yes'),
});

/** Whether the provider bills a stream that ended early: it reported the usage, or text arrived. */
const isUsed = ({ arrivedMicros, reportedMicros = arrivedMicros }: Used): boolean =>
  arrivedMicros !== undefined && reportedMicros !== undefined && reportedMicros > 0;
