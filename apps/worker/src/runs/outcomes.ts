import { RouterError } from '#errors';
import { failpoint, type Log, LOG, Metrics } from '#observability';
import {
  announcement,
  type Claim,
  type ClaimedRun,
  type Ending,
  type LiveRun,
  type PayloadBody,
  recordRun,
  RunRepository,
} from '#persistence';
import { type Handle, type ProviderFailure, type ProviderOutput, toRejection } from '#providers';
import { type QueueName, RunQueues, RunSignals } from '#queue';
import { runKeys } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { findAssets } from '../assets/found-assets.js';
import { Payloads } from '../bytes/payloads.js';

/** Pause before a reply that was not read is read again. */
export const readAgainMs = 2_000;

/** A run whose outcome is known. */
interface EndingRun extends ClaimedRun {
  /** What the provider's last reply says that it cost. */
  reportedMicros?: number | undefined;
}

/** A run as far as its outcome is concerned. */
export interface Finishing extends EndingRun {
  provider: string;
  model: string;
  chargesOnPolicyRejection: 'yes' | 'no' | 'unknown';
  /** Pointers of the asset URLs in its output. */
  assets: readonly string[];
  /** Another provider serves it when this one provably did not take it. */
  hasFallback?: boolean;
}

/** From the row of a run whose claim stands. */
export const finishing = (
  runId: string,
  { epoch, workspaceId, provider, model, facts }: LiveRun,
): Finishing => ({
  runId,
  epoch,
  workspaceId,
  provider,
  model,
  chargesOnPolicyRejection: facts.chargesOnPolicyRejection,
  assets: facts.assets,
  hasFallback: facts.fallback !== undefined,
});

/**
 * Writes what a call to a provider came to: a handle to poll, an output, a failure. Signals whoever waits for it, and
 * enqueues what follows: polls, copies, and the runs that now have a slot.
 */
@Injectable()
export class Outcomes {
  constructor(
    private readonly runs: RunRepository,
    private readonly payloads: Payloads,
    private readonly queues: RunQueues,
    private readonly signals: RunSignals,
    private readonly metrics: Metrics,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /** The provider works on it: its handle is saved before the first poll, in `afterMs` or at once when it was cancelled meanwhile. */
  async pending(run: Finishing, handle: Handle, afterMs: number): Promise<void> {
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
  }

  /** The generation is done: its outcome is written at once, or first its assets are copied. */
  async take(run: Finishing, output: ProviderOutput): Promise<void> {
    const { runId, epoch } = run;
    const { mediaType } = output;
    const hasAssets = !('storedAs' in output.body) && findAssets(output.body, run.assets).length > 0;
    const body = await this.keep(runId, output);
    if (!hasAssets) {
      await this.finish(run, { outcome: 'succeeded', mediaType, body });
      return;
    }
    if (!(await this.runs.keepOutput(runId, epoch, mediaType, body, run.reportedMicros))) {
      this.log.info({ run_id: runId }, 'an output came too late: the claim was lost');
      return;
    }
    await failpoint('results.afterKeep', runId);
    await this.enqueue('assets', run, 0);
  }

  /** A worker died during the submission: whether the provider accepted it is unknown, so it is not repeated. */
  async giveUp(runId: string, claim: Extract<Claim, { kind: 'abandoned' }>): Promise<void> {
    const won = await this.failInternally(
      { ...claim, runId },
      'Outcome unknown: the provider may have received this run, so it was not submitted again.',
      'abandoned submission',
    );
    if (!won) return;
    this.metrics.dispatchUnknown.inc({ provider: claim.provider });
    this.log.error({ run_id: runId, provider: claim.provider }, 'a worker died during a submission');
  }

  /** It waited when the ceiling was lowered; a new call of this price is refused with the same words. */
  async endUnaffordable(run: ClaimedRun): Promise<void> {
    await this.finish(
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

  async fail(run: Finishing, failure: ProviderFailure): Promise<void> {
    this.countAccountTrouble(run.provider, failure);
    const { fields, ...plain } = failure;
    try {
      await this.finish(run, failedEnding(run, failure), failure.note);
    } catch (error) {
      // A database that is away comes back; what it refuses of the provider's words it refuses for ever.
      if (!fields || error instanceof RouterError) throw error;
      this.log.error({ error, run_id: run.runId }, 'the fields of a failure could not be written');
      await this.finish(run, failedEnding(run, plain), failure.note);
    }
  }

  /** The router's own failure. `note` is for the log. False when the run already has its outcome. */
  async failInternally(run: EndingRun, detail: string, note: string): Promise<boolean> {
    return this.finish(
      run,
      { outcome: 'failed', bucket: 'internal_error', status: 500, detail, billable: false },
      note,
    );
  }

  /** The provider's answer is gone from the store, and its bytes are nowhere else. */
  async loseAnswer(run: EndingRun, note: string): Promise<void> {
    await this.failInternally(run, 'The provider’s answer was lost.', note);
  }

  /** True when this was the write that counts. */
  async finish(run: EndingRun, ending: Ending, note?: string): Promise<boolean> {
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
    await this.queues.enqueueGranted(finished.granted);
    return finished.won;
  }

  /** Its stored reply waits to be read. */
  async readLater(run: Finishing): Promise<void> {
    await this.enqueue('poll', run, readAgainMs);
  }

  /** A poll of a run that needs none ends at once. */
  async pollNow(runId: string, provider: string): Promise<void> {
    await this.queues.enqueue([{ queue: 'poll', provider, runId, delayMs: 0 }]);
  }

  /** For a run that has no job: what the queue does not accept, its outbox row brings back. */
  async dispatchAgain(runId: string, provider: string, delayMs: number): Promise<void> {
    await this.queues.enqueue([{ queue: 'dispatch', provider, runId, delayMs }]);
  }

  private async enqueue(queue: QueueName, { runId, provider }: Finishing, delayMs: number): Promise<void> {
    const [accepted] = await this.queues.enqueue([{ queue, provider, runId, delayMs }]);
    if (!accepted) await this.runs.leaveToReconciler(runId, delayMs);
  }

  private async keep(runId: string, { mediaType, body, keptAs }: ProviderOutput): Promise<PayloadBody> {
    if ('storedAs' in body) return body;
    if (keptAs !== undefined) return { storedAs: keptAs };
    return this.payloads.keep(runKeys.reply(runId), runId, mediaType, body);
  }
}

const failedEnding = (run: Finishing, failure: ProviderFailure): Ending => ({
  outcome: 'failed',
  ...toRejection(failure),
  billable: failure.class === 'content_policy' && run.chargesOnPolicyRejection === 'yes',
});
