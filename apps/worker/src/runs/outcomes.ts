import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { failpoint, type Log, LOG, Metrics } from '#observability';
import {
  announcement,
  type ClaimedRun,
  DispatchRepository,
  type Ending,
  type LiveRun,
  type PayloadBody,
  ProviderPauseRepository,
  recordRun,
  RunRepository,
  type SweptRun,
} from '#persistence';
import { type Handle, type ProviderFailure, type ProviderOutput, toRejection } from '#providers';
import { done, type QueueName, RunQueues, RunSignals } from '#queue';
import { runKeys } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { findAssets } from '../bytes/found-assets.js';
import { Payloads } from '../bytes/payloads.js';
import type { WorkerSettings } from '../settings.js';

/** Pause before a reply that was not read is read again. */
export const readAgainMs = 2_000;

/** A run whose outcome is known. */
interface EndingRun extends ClaimedRun {
  /** Its cost by the provider's last reply. */
  reportedMicros?: number | undefined;
}

/** A run at its provider, as its row knows it. */
export type OngoingRun = LiveRun & EndingRun;

/** The end of a submission: it is done with, or the run waits for that provider and may be taken in `afterMs`. */
export type Submitted = typeof done | { kind: 'waits'; provider: string; afterMs: number };

/**
 * Writes the outcome of a call to a provider: a handle to poll, an output, a failure. Signals the calls that wait for it,
 * and enqueues the next step: polls, copies, and the runs that now have a slot. The job of the call is done then.
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
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'PROVIDER_MAX_PAUSE_MS'>,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /** The provider works on it: its handle is saved before the first poll, in `afterMs` or at once when it was cancelled meanwhile. */
  async pending(run: OngoingRun, handle: Handle, afterMs: number): Promise<typeof done> {
    const { runId, epoch } = run;
    const saving = this.runs.saveHandle(runId, epoch, handle, afterMs, run.reportedMicros);
    const saved = await saving.catch((error: unknown) => {
      // Nothing else says where the generation is, which is paid.
      this.log.error({ error, run_id: runId, handle }, 'a handle could not be saved');
      throw error;
    });
    await failpoint('dispatch.afterHandle', runId);
    if (saved) await this.enqueue('poll', run, saved.cancelRequested ? 0 : afterMs);
    else this.log.error({ run_id: runId, handle }, 'a handle came too late: the claim was lost');
    return done;
  }

  /** The generation is done: its outcome is written at once, or first its assets are copied. */
  async takeOutput(run: OngoingRun, output: ProviderOutput): Promise<typeof done> {
    const { runId, epoch } = run;
    const { mediaType } = output;
    const hasAssets = !('storedAs' in output.body) && findAssets(output.body, run.facts.assets).length > 0;
    const body = await this.keepOutput(runId, output);
    if (!hasAssets) {
      await this.finishRun(run, { outcome: 'succeeded', mediaType, body });
    } else if (await this.runs.keepOutput(runId, epoch, mediaType, body, run.reportedMicros)) {
      await failpoint('results.afterKeep', runId);
      await this.enqueue('assets', run, 0);
    } else this.log.info({ run_id: runId }, 'an output came too late: the claim was lost');
    return done;
  }

  /** The submission provably did not arrive: its claim goes back, and the run waits again. */
  async postpone({ runId, epoch, provider }: OngoingRun, afterMs: number): Promise<Submitted> {
    const boundedMs = await this.dispatches.postpone(runId, epoch, afterMs);
    return boundedMs === null ? done : { kind: 'waits', provider, afterMs: boundedMs };
  }

  /** Its time budget was spent before the provider accepted it. */
  failUnsent(run: OngoingRun): Promise<typeof done> {
    return this.failRun(run, {
      class: 'provider_unavailable',
      retry: 'never',
      note: 'refused until the budget was spent',
    });
  }

  /** A worker died during the submission: whether the provider accepted it is unknown, so it is not repeated. */
  async giveUp(run: SweptRun): Promise<void> {
    const ending = internalFailure(
      'Outcome unknown: the provider may have received this run, so it was not submitted again.',
    );
    if (await this.finishRun(run, ending, 'abandoned submission')) {
      const { runId, provider } = run;
      this.metrics.dispatchUnknown.inc({ provider });
      this.log.error({ run_id: runId, provider }, 'a worker died during a submission');
    }
  }

  /** It waited when the ceiling was lowered; a new call of this price is refused with the same words. */
  async endUnaffordable(run: ClaimedRun): Promise<void> {
    await this.finishRun(
      run,
      {
        outcome: 'failed',
        bucket: 'concurrency_limit_exceeded',
        status: 429,
        detail: 'This call alone costs more than the ceiling on committed spend; waiting will not help.',
        billable: false,
      },
      'dearer than the lowered ceiling',
    );
  }

  /** The operator is alerted by each reply that refuses our account, whether it ends the run or, said of a poll, does not. */
  countAccountTrouble(provider: string, failure: ProviderFailure): void {
    if (failure.class === 'provider_account') this.metrics.accountTrouble.inc({ provider });
  }

  /** A refusal that says how long to wait (Retry-After) pauses the provider for every run, on every worker. */
  async pauseProvider(provider: string, calls: 'submit' | 'poll', failure: ProviderFailure): Promise<void> {
    const { class: failureClass, afterMs = 0, note = 'a refusal' } = failure;
    if (failureClass !== 'provider_unavailable' || afterMs === 0) return;
    this.metrics.retryAfters.inc({ provider, calls });
    const forMs = Math.min(afterMs, this.settings.PROVIDER_MAX_PAUSE_MS);
    const reason = `${note}, asked for ${afterMs / 1000} s`;
    try {
      if (await this.pauses.pauseFor(provider, calls, forMs, reason))
        this.log.warn({ provider, calls, for_ms: forMs, note }, 'a provider is paused after Retry-After');
    } catch (error) {
      // It costs other runs a refusal each; this one waits all the same.
      this.log.warn({ error, provider, calls }, 'the pause of a provider could not be recorded');
    }
  }

  async failRun(run: OngoingRun, failure: ProviderFailure): Promise<typeof done> {
    this.countAccountTrouble(run.provider, failure);
    const { fields, ...plain } = failure;
    try {
      await this.finishRun(run, failedEnding(run, failure), failure.note);
    } catch (error) {
      // A database that is away comes back; if it refuses the provider's words, it refuses them for ever.
      if (!fields || error instanceof RouterError) throw error;
      this.log.error({ error, run_id: run.runId }, 'the fields of a failure could not be written');
      await this.finishRun(run, failedEnding(run, plain), failure.note);
    }
    return done;
  }

  /** The router's own failure; `note` says in the log which. */
  async failInternally(run: EndingRun, note: string): Promise<typeof done> {
    await this.finishRun(run, internalFailure('This run could not be processed.'), note);
    return done;
  }

  /** The provider's answer is gone from the store, and its bytes are nowhere else. */
  async loseAnswer(run: EndingRun, note: string): Promise<typeof done> {
    await this.finishRun(run, internalFailure('The provider’s answer was lost.'), note);
    return done;
  }

  /** True when this was the write that counts. */
  async finishRun(run: EndingRun, ending: Ending, note?: string): Promise<boolean> {
    await failpoint('finish.beforeCommit', run.runId);
    const finished = await this.runs.finishRun(run, ending, run.reportedMicros);
    await failpoint('finish.afterCommit', run.runId);
    if (finished.won) {
      recordRun(run.runId, finished.record, this.log, this.metrics, note);
      const isHeld = finished.record.delivery === 'sync';
      await this.signals.publish(run.runId, isHeld ? announcement(ending, finished.record) : undefined);
    } else {
      this.log.info({ run_id: run.runId, note }, 'outcome came too late: the claim was lost');
    }
    await this.queues.passOn(finished.granted);
    return finished.won;
  }

  /** Its stored reply waits to be read; its row was put off for as long as the reading might take. */
  async readLater(run: OngoingRun): Promise<typeof done> {
    await this.runs.leaveToReconciler(run.runId, readAgainMs);
    await this.enqueue('poll', run, readAgainMs);
    return done;
  }

  private async enqueue(queue: QueueName, { runId, provider }: OngoingRun, delayMs: number): Promise<void> {
    const [accepted] = await this.queues.enqueue([{ queue, provider, runId, delayMs }]);
    if (!accepted) await this.runs.leaveToReconciler(runId, delayMs);
  }

  private async keepOutput(runId: string, { mediaType, body, keptAs }: ProviderOutput): Promise<PayloadBody> {
    if ('storedAs' in body) return body;
    if (keptAs !== undefined) return { storedAs: keptAs };
    return this.payloads.keepBody(runKeys.reply(runId), runId, mediaType, body);
  }
}

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
  billable: failure.class === 'content_policy' && run.facts.chargesOnPolicyRejection === 'yes',
});
