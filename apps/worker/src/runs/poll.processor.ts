import { SETTINGS } from '#infrastructure';
import { failpoint, noteCall, runAttributes, TRACING, type Tracing } from '#observability';
import { type Poll, RunRepository } from '#persistence';
import type {
  Handle,
  HttpCall,
  HttpReply,
  KeyedProvider,
  Outcome,
  ProviderFailure,
  ReadReply,
} from '#providers';
import { type DeliveredRun, done, type JobResult, maxSlotless, retryIn } from '#queue';
import { Processor } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import { Payloads } from '../bytes/payloads.js';
import { keptReply, ProviderCall } from '../calls/provider-call.js';
import { ProviderResults } from '../calls/provider-results.js';
import { isUnread, type Unread } from '../calls/reply-reader.js';
import { ProviderKeys } from '../keys/provider-keys.js';
import { Providers } from '../providers.js';
import type { WorkerSettings } from '../settings.js';
import { countAttempt, deathsOf } from './crash-counts.js';
import type { OngoingRun } from './ongoing-run.js';
import { Outcomes, readAgainMs } from './outcomes.js';
import { ProviderSlotsProcessor } from '../slotted.processor.js';

const now = retryIn(0);
const minPauseMs = 50;
const troubledPauseMs = 2000;
const longPauseMs = 10_000;
/** A poll that begins just before the time budget ends still gets this long to return a result. */
const minPollMs = 5_000;
/** Consecutive replies that a handle is unknown before it counts as lost. */
const lostPollsAllowed = 3;
/** Progress is written only if it grew by at least this fraction. */
const minProgress = 0.05;

/** Polls a run once, or fetches its result. No memory or connection is held between polls. */
@Processor('poll', { concurrency: maxSlotless })
export class PollProcessor extends ProviderSlotsProcessor {
  readonly queue = 'poll';

  constructor(
    private readonly runs: RunRepository,
    private readonly outcomes: Outcomes,
    private readonly payloads: Payloads,
    private readonly calls: ProviderCall,
    private readonly results: ProviderResults,
    private readonly providers: Providers,
    private readonly keys: ProviderKeys,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    @Inject(TRACING) private readonly tracing: Tracing,
  ) {
    super(settings, { max: settings.WORKER_POLL_CONCURRENCY });
  }

  protected async work({ runId, mayHaveCrashed }: DeliveredRun, signal: AbortSignal): Promise<JobResult> {
    const poll = await this.runs.readForPoll(runId);
    if (!poll || poll.stage !== 'running') return done;
    noteCall(runId, poll.facts.callId);
    const run = { ...poll, runId, reportedMicros: undefined };
    const deaths = deathsOf(poll);
    if (deaths >= this.settings.MAX_POLL_CRASHES)
      return this.outcomes.failInternally(run, `gave up after ${deaths} crashes while polling`);
    await using _attempt = await countAttempt(this.runs, run, mayHaveCrashed);
    return await this.pollOnce(run, poll, signal);
  }

  private async pollOnce(run: OngoingRun, poll: Poll, signal: AbortSignal): Promise<JobResult> {
    const { runId } = run;
    const bound = this.providers.get(poll.provider);
    const key = bound && (await this.keys.keyOf(bound, poll));
    if (key === 'gone') return this.outcomes.endWithoutKey(run, 'submitted');
    const provider = bound && { ...bound, key };
    const kept = keptReply(poll.handle);
    if (provider && kept) return this.readKept(provider, run, poll, kept, signal);
    if (!provider?.adapter.resume || !provider.adapter.onResume) {
      if (poll.overdue) return this.failOverdue(run, poll);
      // An operator declared this provider and this process has not loaded it yet. A worker that has polls
      // the run later.
      return retryIn(troubledPauseMs);
    }
    const handle = poll.handle as Handle;
    const cancel = poll.cancelDue && !poll.overdue ? provider.adapter.cancel?.(handle) : undefined;
    const heldMs = cancel ? 0 : this.untilLastPoll(poll, poll.pausedMs ?? 0);
    if (heldMs > 0) return this.again(run, poll, heldMs);
    await failpoint('poll.beforeCall', runId);
    const startedAtMs = Date.now();
    const begunMs = performance.now();
    using share = this.payloads.openShare(poll.workspaceId);
    const limitMs = this.settings.PROVIDER_POLL_TIMEOUT_MS;
    const resuming = this.calls.resume(provider, runId, handle, {
      workspaceId: poll.workspaceId,
      timeoutMs: poll.overdue ? limitMs : Math.min(limitMs, Math.max(poll.leftMs, minPollMs)),
      share,
      reported: poll.facts.reported,
      assets: poll.facts.assets,
      readings: poll.slowReadings,
      cancelRequested: poll.cancelRequested,
      hasCost: poll.reportedMicros != null,
      signal,
    });
    const read = await resuming.catch((error: unknown): ReadReply => {
      // For example, a handle that this release cannot read must not keep a run alive forever.
      if (!poll.overdue) throw error;
      this.log.error(
        { error, run_id: runId },
        'could not poll an overdue run, failing it with provider_timeout',
      );
      return { outcome: { kind: 'failed', failure: { class: 'provider_timeout', retry: 'same_call' } } };
    });
    // The job was aborted, so the worker that polls next decides the run.
    if (read === null) return now;
    if (isUnread(read)) return await this.readAgain(run, poll, read);
    const { outcome } = read;
    // Cancel only a run that is still in progress: some providers treat cancelling a finished run as deleting
    // it.
    if (cancel && outcome.kind === 'pending' && (await this.cancel(provider, run, handle, cancel, signal)))
      return now;
    const known = { ...run, reportedMicros: read.reportedMicros };
    // Uses the monotonic clock, because a wall clock that is set forward would end a run that has time left.
    const overdue = poll.overdue || performance.now() - begunMs >= poll.leftMs;
    // Only the last poll gets a span: a run of an hour would produce a thousand.
    if (isPolledAgain(outcome)) return await this.record(provider, known, { ...poll, overdue }, outcome);
    using _span = this.tracing.start({
      name: 'poll',
      kind: 'consumer',
      parent: poll.facts.traceparent,
      attributes: {
        ...runAttributes({ ...run, callId: run.facts.callId }),
        'router.outcome': outcome.kind,
      },
      startedAtMs,
    });
    return await this.record(provider, known, poll, outcome);
  }

  /** The reply is already paid for, so neither the time budget nor slow reading ends its run. */
  private async readKept(
    provider: KeyedProvider,
    run: OngoingRun,
    poll: Poll,
    kept: Omit<HttpReply, 'body'>,
    signal: AbortSignal,
  ): Promise<JobResult> {
    const { runId, epoch, model } = run;
    const { slowReadings: readings, facts } = poll;
    const { upstream, reported, assets } = facts;
    using share = this.payloads.openShare(poll.workspaceId);
    const terms = { readings, reported, assets, share, signal };
    const read = await this.calls.readKept(provider, { runId, model, upstream }, kept, terms);
    if (signal.aborted) return now;
    if (read === 'gone' && poll.overdue)
      return await this.outcomes.loseAnswer(run, 'stored reply missing from the store');
    if (isUnread(read)) return await this.readAgain(run, poll, read);
    const known = { ...run, reportedMicros: read.reportedMicros };
    const { outcome } = read;
    if (outcome.kind === 'failed') return await this.outcomes.failRun(known, outcome.failure);
    if (outcome.kind !== 'pending') return await this.record(provider, known, poll, outcome);
    const { handle, afterMs } = outcome;
    const saved = await this.runs.saveHandle(runId, epoch, handle, afterMs, read.reportedMicros);
    return saved ? retryIn(saved.cancelRequested ? 0 : afterMs) : done;
  }

  /** Our own thread was busy or slow, which never ends a run. */
  private async readAgain(run: OngoingRun, poll: Poll, unread: Unread): Promise<JobResult> {
    if (unread === 'late') await this.runs.noteSlowReading(run.runId, run.epoch);
    return this.again(run, { ...poll, overdue: true }, readAgainMs);
  }

  private async record(
    provider: KeyedProvider,
    run: OngoingRun,
    poll: Poll,
    outcome: Outcome,
  ): Promise<JobResult> {
    const { runId, epoch, reportedMicros } = run;
    switch (outcome.kind) {
      case 'pending':
        if (poll.overdue) return this.failOverdue(run, poll);
        if (poll.lostPolls > 0 || hasMoved(poll, outcome.progress))
          await this.runs.notePoll(runId, epoch, 0, outcome.progress);
        if (reportedMicros !== undefined && reportedMicros !== poll.reportedMicros)
          await this.runs.saveHandle(runId, epoch, outcome.handle, outcome.afterMs, reportedMicros);
        return this.again(run, poll, Math.min(outcome.afterMs, this.settings.PROVIDER_POLL_PAUSE_MS));
      case 'next':
        return (await this.runs.saveHandle(runId, epoch, outcome.handle, 0, reportedMicros)) ? now : done;
      case 'succeeded':
        return this.outcomes.takeOutput(run, outcome);
      case 'canceled':
        if (poll.cancelRequested) return this.finishCancelled(run);
        return this.outcomes.failRun(run, {
          class: 'provider_failed',
          retry: 'never',
          note: 'cancelled by the provider',
        });
      case 'failed':
        return this.recordFailure(provider, run, poll, outcome.failure);
    }
  }

  private async finishCancelled(run: OngoingRun): Promise<JobResult> {
    await this.outcomes.finishRun(run, { outcome: 'cancelled' });
    return done;
  }

  /** A failed poll must never fail a run that may still complete. */
  private async recordFailure(
    provider: KeyedProvider,
    run: OngoingRun,
    poll: Poll,
    failure: ProviderFailure,
  ): Promise<JobResult> {
    await this.keys.drop(provider, failure);
    // The provider bills a finished run, so its result is fetched up to the same limit after the budget is spent.
    const isLate = poll.overdue && (poll.handle as Handle).step === 'fetch';
    const lostPolls = failure.capped || isLate ? poll.lostPolls + 1 : 0;
    const isLost = lostPolls >= lostPollsAllowed;
    const isDenied = isLost && failure.capped;
    if (failure.retry !== 'same_call' || isDenied) {
      // Some providers forget a run once it is cancelled.
      return isDenied && poll.cancelRequested && !poll.cancelDue
        ? this.finishCancelled(run)
        : this.outcomes.failRun(run, failure);
    }
    const isOver = poll.overdue && (!isLate || isLost);
    if (isOver && failure.class === 'provider_account')
      return this.outcomes.failRun(run, { ...failure, retry: 'never' });
    this.outcomes.countAccountTrouble(run, failure);
    if ((await this.keys.cool(provider, 'poll', failure)) === undefined)
      await this.outcomes.pauseCalls(run, 'poll', failure);
    if (isOver) return this.failOverdue(run, poll);
    if (lostPolls !== poll.lostPolls) await this.runs.notePoll(run.runId, run.epoch, lostPolls);
    this.log.warn({ run_id: run.runId, note: failure.note }, 'a poll failed, retrying');
    const requestedMs = failure.afterMs ?? troubledPauseMs;
    const pauseMs = Math.max(this.untilLastPoll(poll, requestedMs), Math.min(requestedMs, troubledPauseMs));
    return this.again(run, poll, pauseMs);
  }

  /** Called only after a poll past the budget's end: the provider may have finished while no worker polled. */
  private failOverdue(run: OngoingRun, poll: Poll): Promise<JobResult> {
    const provider = this.providers.get(run.provider);
    const isFetch = (poll.handle as Partial<Handle> | null)?.step === 'fetch';
    if (provider)
      this.calls.noteExpiry({ ...provider, key: undefined }, run.runId, isFetch ? 'fetch' : 'poll');
    if (run.facts.ownKey === undefined) this.results.noteRun(run.provider, run.runId, 'failed');
    return this.outcomes.failRun(run, {
      class: 'provider_timeout',
      retry: 'never',
      note: 'time budget spent',
    });
  }

  /** Polls once more before the deadline, whatever time the provider named: it bills the run. */
  private untilLastPoll({ leftMs }: Poll, requestedMs: number): number {
    return Math.min(requestedMs, leftMs - this.settings.PROVIDER_POLL_TIMEOUT_MS);
  }

  private async again(run: OngoingRun, poll: Poll, requestedMs: number): Promise<JobResult> {
    const afterMs = Math.max(minPauseMs, poll.overdue ? requestedMs : Math.min(requestedMs, poll.leftMs));
    // The reconciler wakes overdue runs and must not cut short a pause that the provider requested.
    if (poll.dueSoon || afterMs > longPauseMs) await this.runs.moveDue(run, afterMs);
    return retryIn(afterMs);
  }

  /** Returns whether the cancellation was sent. If not, the next poll tries again. */
  private async cancel(
    provider: KeyedProvider,
    run: OngoingRun,
    handle: Handle,
    call: HttpCall,
    signal: AbortSignal,
  ): Promise<boolean> {
    const timeoutMs = this.settings.PROVIDER_POLL_TIMEOUT_MS;
    const { runId, workspaceId } = run;
    const answer = await this.calls.cancel(provider, runId, handle, { workspaceId, call, timeoutMs, signal });
    if (answer === null) return false;
    this.log.info({ run_id: run.runId, answer }, 'sent a cancellation to the provider');
    await this.runs.noteCancelSent(run.runId, run.epoch);
    return true;
  }
}

/** Whether the run will be polled again. */
const isPolledAgain = (outcome: Outcome): boolean =>
  outcome.kind === 'pending' || (outcome.kind === 'failed' && outcome.failure.retry === 'same_call');

const hasMoved = (poll: Poll, progress = 0): boolean => progress - (poll.progress ?? 0) >= minProgress;
