import { failpoint } from '#observability';
import { type Poll, RunRepository } from '#persistence';
import type {
  BoundProvider,
  Handle,
  HttpCall,
  HttpReply,
  Outcome,
  ProviderFailure,
  ReadReply,
} from '#providers';
import { type DeliveredRun, type JobResult, maxSlotless, ProviderSlots, RunProcessor } from '#queue';
import { Processor } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import type { Share } from '../bytes/byte-budget.js';
import { ProviderCall } from '../calls/provider-call.js';
import { isUnread, type Unread } from '../calls/reply-reader.js';
import { Providers } from '../providers.js';
import { repeatableGraceMs, SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';
import { countingCrashes, deathsOf } from './crash-counts.js';
import { keptReply, unreadAfter } from './kept-replies.js';
import { type Finishing, finishing, Outcomes, readAgainMs } from './outcomes.js';
import { ProviderBackoff } from './provider-backoff.js';

const done: JobResult = { kind: 'done' };
const now: JobResult = { kind: 'retry', delayMs: 0 };
const minPauseMs = 50;
const troubledPauseMs = 2000;
const longPauseMs = 10_000;
/** A poll that begins just before the budget ends gets this long to say that the generation is done. */
const minLookMs = 5_000;
/** How often in a row a provider may deny knowing a handle before it is believed. */
const lostPollsAllowed = 3;
/** A poll writes nothing unless the provider has come so much further, as a share of 1. */
const minProgress = 0.05;

/** Asks a provider once how a generation is doing, or fetches its result. Nothing is held between two polls. */
@Processor('poll', { concurrency: maxSlotless })
export class PollProcessor extends RunProcessor {
  protected readonly closeGraceMs: number;
  private readonly slots: ProviderSlots;

  constructor(
    private readonly runs: RunRepository,
    private readonly outcomes: Outcomes,
    private readonly calls: ProviderCall,
    private readonly backoff: ProviderBackoff,
    private readonly providers: Providers,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
  ) {
    super();
    this.closeGraceMs = repeatableGraceMs(settings);
    this.slots = new ProviderSlots(settings.WORKER_POLL_CONCURRENCY, this.boundJobs);
  }

  protected handle(run: DeliveredRun, signal: AbortSignal): Promise<JobResult> {
    return this.slots.during(run.provider, signal, () => this.poll(run, signal));
  }

  private async poll({ runId, mayHaveCrashed }: DeliveredRun, signal: AbortSignal): Promise<JobResult> {
    const poll = await this.runs.readForPoll(runId);
    if (!poll || poll.stage !== 'running') return done;
    const deaths = deathsOf(poll);
    if (deaths >= this.settings.MAX_POLL_CRASHES) {
      const note = `put aside after ${deaths} crashes while polling`;
      await this.outcomes.failInternally(finishing(runId, poll), 'This run could not be processed.', note);
      return done;
    }
    const counted = { runId, epoch: poll.epoch, crashes: poll.crashes };
    return countingCrashes(this.runs, counted, mayHaveCrashed, () => this.look(runId, poll, signal));
  }

  private async look(runId: string, poll: Poll, signal: AbortSignal): Promise<JobResult> {
    const run = finishing(runId, poll);
    const provider = this.providers.get(poll.provider);
    const kept = keptReply(poll.handle);
    if (provider && kept) return this.readKept(provider, run, poll, kept, signal);
    if (!provider?.adapter.resume || !provider.adapter.onResume) {
      if (poll.overdue) return this.failOverdue(run);
      // Declared by an operator, and not known to this process yet: later, by one that knows it.
      return { kind: 'retry', delayMs: troubledPauseMs };
    }
    const handle = poll.handle as Handle;
    const cancel = poll.cancelDue && !poll.overdue ? provider.adapter.cancel?.(handle) : undefined;
    const heldMs = cancel ? 0 : this.untilLastLook(poll, poll.pausedMs ?? 0);
    if (heldMs > 0) return this.again(run, poll, heldMs);
    await failpoint('poll.beforeCall', runId);
    const startedAtMs = Date.now();
    const begunMs = performance.now();
    return this.calls.withShare(async (share) => {
      const read = await this.callProvider(provider, run, poll, share, signal);
      if (read === null) return now;
      if (isUnread(read)) return this.readAgain(run, poll, read);
      const { outcome } = read;
      // Only what is seen to be under way: some providers take a cancellation of what is done for its deletion.
      if (cancel && outcome.kind === 'pending' && (await this.cancel(provider, run, handle, cancel, signal)))
        return now;
      const known = { ...run, reportedMicros: read.reportedMicros };
      // Not by the machine's clock: one that is set forward meanwhile would end a run that has time left.
      const overdue = poll.overdue || performance.now() - begunMs >= poll.leftMs;
      // A generation that takes an hour would leave a thousand spans.
      if (goesOn(outcome)) return this.record(known, { ...poll, overdue }, outcome);
      const span = {
        name: 'poll',
        kind: 'consumer',
        parent: poll.facts.traceparent,
        attributes: { 'router.run_id': runId, 'router.outcome': outcome.kind },
        startedAtMs,
      } as const;
      return this.calls.traced(span, () => this.record(known, poll, outcome));
    });
  }

  /** Null when the worker is closing: what arrived belongs to whoever polls next. */
  private async callProvider(
    provider: BoundProvider,
    { runId }: Finishing,
    poll: Poll,
    share: Share,
    signal: AbortSignal,
  ): Promise<ReadReply | Unread | null> {
    const limitMs = this.settings.PROVIDER_POLL_TIMEOUT_MS;
    try {
      return await this.calls.resume(provider, runId, poll.handle as Handle, {
        workspaceId: poll.workspaceId,
        timeoutMs: poll.overdue ? limitMs : Math.min(limitMs, Math.max(poll.leftMs, minLookMs)),
        share,
        reported: poll.facts.reported,
        assets: poll.facts.assets,
        readings: poll.slowReadings,
        signal,
        onReply: () => failpoint('poll.afterCall', runId),
      });
    } catch (error) {
      // A handle that this release cannot read, for example: it must not keep a run alive for ever.
      if (!poll.overdue) throw error;
      this.log.error({ error, run_id: runId }, 'an overdue run could not be polled');
      return { outcome: { kind: 'failed', failure: { class: 'provider_timeout', retry: 'same_call' } } };
    }
  }

  /** The reply is already paid, so neither the time budget nor a slow reading ends its run. */
  private readKept(
    provider: BoundProvider,
    run: Finishing,
    poll: Poll,
    kept: Omit<HttpReply, 'body'>,
    signal: AbortSignal,
  ): Promise<JobResult> {
    const { facts, slowReadings: readings } = poll;
    const submitted = { runId: run.runId, model: run.model, upstream: facts.upstream };
    return this.calls.withShare(async (share) => {
      const terms = { readings, reported: facts.reported, assets: facts.assets, share, signal };
      const read = await this.calls
        .readKept(provider, submitted, kept, terms)
        .catch((error: unknown) => unreadAfter(error, run.runId, this.log));
      if (signal.aborted) return now;
      if (read === 'gone' && poll.overdue) {
        await this.outcomes.loseAnswer(run, 'its stored reply is gone');
        return done;
      }
      if (isUnread(read)) return this.readAgain(run, poll, read);
      const known = { ...run, reportedMicros: read.reportedMicros };
      const { outcome } = read;
      if (outcome.kind === 'failed') {
        await this.outcomes.fail(known, outcome.failure);
        return done;
      }
      if (outcome.kind !== 'pending') return this.record(known, poll, outcome);
      const { runId, epoch } = run;
      const { handle, afterMs } = outcome;
      const saved = await this.runs.saveHandle(runId, epoch, handle, afterMs, read.reportedMicros);
      return saved ? { kind: 'retry', delayMs: saved.cancelRequested ? 0 : afterMs } : done;
    });
  }

  /** Our own thread was busy or slow: that never ends a run. */
  private async readAgain(run: Finishing, poll: Poll, unread: Unread): Promise<JobResult> {
    if (unread === 'late') await this.runs.noteSlowReading(run.runId, run.epoch);
    return this.again(run, { ...poll, overdue: true }, readAgainMs);
  }

  private async record(run: Finishing, poll: Poll, outcome: Outcome): Promise<JobResult> {
    switch (outcome.kind) {
      case 'pending':
        if (poll.overdue) return this.failOverdue(run);
        if (poll.lostPolls > 0 || hasMoved(poll, outcome.progress))
          await this.runs.notePoll(run.runId, run.epoch, 0, outcome.progress);
        if (run.reportedMicros !== undefined && run.reportedMicros !== poll.reportedMicros)
          await this.runs.saveHandle(
            run.runId,
            run.epoch,
            outcome.handle,
            outcome.afterMs,
            run.reportedMicros,
          );
        return this.again(run, poll, Math.min(outcome.afterMs, this.settings.PROVIDER_POLL_PAUSE_MS));
      case 'next':
        if (!(await this.runs.saveHandle(run.runId, run.epoch, outcome.handle, 0, run.reportedMicros)))
          return done;
        return now;
      case 'succeeded':
        await this.outcomes.take(run, outcome.output);
        return done;
      case 'canceled':
        if (poll.cancelRequested) await this.outcomes.finish(run, { outcome: 'cancelled' });
        else
          await this.outcomes.fail(run, {
            class: 'provider_failed',
            retry: 'never',
            note: 'cancelled by the provider',
          });
        return done;
      case 'failed':
        return this.recordFailure(run, poll, outcome.failure);
    }
  }

  /** A failed poll must never fail a run that may still complete. */
  private async recordFailure(run: Finishing, poll: Poll, failure: ProviderFailure): Promise<JobResult> {
    // What is done is paid for: its result is asked for as often when the budget is spent.
    const isLate = poll.overdue && (poll.handle as Handle).step === 'fetch';
    const lostPolls = failure.capped || isLate ? poll.lostPolls + 1 : 0;
    const isLost = lostPolls >= lostPollsAllowed;
    const isDenied = isLost && failure.capped;
    if (failure.retry !== 'same_call' || isDenied) {
      // Some providers forget a run that they were told to cancel.
      if (isDenied && poll.cancelRequested && !poll.cancelDue)
        await this.outcomes.finish(run, { outcome: 'cancelled' });
      else await this.outcomes.fail(run, failure);
      return done;
    }
    const isOver = poll.overdue && (!isLate || isLost);
    if (isOver && failure.class === 'provider_account') {
      await this.outcomes.fail(run, { ...failure, retry: 'never' });
      return done;
    }
    this.outcomes.countAccountTrouble(run.provider, failure);
    await this.backoff.record(run.provider, 'poll', failure);
    if (isOver) return this.failOverdue(run);
    if (lostPolls !== poll.lostPolls) await this.runs.notePoll(run.runId, run.epoch, lostPolls);
    this.log.warn({ run_id: run.runId, note: failure.note }, 'poll failed, polling on');
    const askedMs = failure.afterMs ?? troubledPauseMs;
    return this.again(
      run,
      poll,
      Math.max(this.untilLastLook(poll, askedMs), Math.min(askedMs, troubledPauseMs)),
    );
  }

  /** Only after a poll that ended when the budget was spent: the generation may have ended while no worker looked. */
  private async failOverdue(run: Finishing): Promise<JobResult> {
    await this.outcomes.fail(run, {
      class: 'provider_timeout',
      retry: 'never',
      note: 'time budget spent',
    });
    return done;
  }

  /** What was generated is paid: a provider that wants to be left alone is asked once more before the time is over. */
  private untilLastLook({ leftMs }: Poll, askedMs: number): number {
    return Math.min(askedMs, leftMs - this.settings.PROVIDER_POLL_TIMEOUT_MS);
  }

  private async again(run: Finishing, poll: Poll, askedMs: number): Promise<JobResult> {
    const afterMs = Math.max(minPauseMs, poll.overdue ? askedMs : Math.min(askedMs, poll.leftMs));
    // The reconciler wakes what is overdue, and must not cut short a pause that the provider asked for.
    if (poll.dueSoon || afterMs > longPauseMs) await this.runs.moveDue(run.runId, afterMs);
    return { kind: 'retry', delayMs: afterMs };
  }

  /** Whether it has left; where it has not, the run is polled as if nobody had asked, and the next poll tries again. */
  private async cancel(
    provider: BoundProvider,
    run: Finishing,
    handle: Handle,
    call: HttpCall,
    signal: AbortSignal,
  ): Promise<boolean> {
    const timeoutMs = this.settings.PROVIDER_POLL_TIMEOUT_MS;
    const { runId, workspaceId } = run;
    const answer = await this.calls.cancel(provider, runId, handle, { workspaceId, call, timeoutMs, signal });
    if (answer === null) return false;
    this.log.info({ run_id: run.runId, answer }, 'cancellation passed on');
    await this.runs.noteCancelSent(run.runId, run.epoch);
    return true;
  }
}

/** The run is polled once more. */
const goesOn = (outcome: Outcome): boolean =>
  outcome.kind === 'pending' || (outcome.kind === 'failed' && outcome.failure.retry === 'same_call');

const hasMoved = (poll: Poll, progress = 0): boolean => progress - (poll.progress ?? 0) >= minProgress;
