import { failpoint, type Log, type Tracing } from '#observability';
import type { RunRepository, Poll } from '#persistence';
import type { BoundProvider, Handle, HttpCall, Outcome, ProviderFailure } from '#providers';
import type { Verdict } from '#queue';
import type { ByteBudget, Share } from '../bytes/byte-budget.js';
import type { PartnerClient } from '../calls/partner-client.js';
import type { ReplyReader } from '../calls/reply-reader.js';
import type { Isolation } from './isolation.js';
import { type Finishing, finishing, type Outcomes } from './outcomes.js';
import type { PartnerAsks } from './partner-asks.js';
import type { Results } from './results.js';
import type { Providers } from '../providers.js';

const done: Verdict = { kind: 'done' };
const shortestPauseMs = 50;
const troubledPauseMs = 2000;
const longPauseMs = 10_000;
/** How often in a row a partner may deny knowing a handle before it is believed. */
const lostPollsAllowed = 3;

interface PollParts {
  dispatching: RunRepository;
  isolation: Isolation;
  outcomes: Outcomes;
  results: Results;
  asks: PartnerAsks;
  budget: ByteBudget;
  client: PartnerClient;
  replies: ReplyReader;
  providers: Pick<Providers, 'get'>;
  tracing: Tracing;
  log: Log;
}

interface PollLimits {
  PROVIDER_POLL_TIMEOUT_MS: number;
  PROVIDER_POLL_PAUSE_MS: number;
  MAX_POLL_CRASHES: number;
}

/** Asks a partner once how a generation is doing, or fetches its result. Nothing is held between two polls. */
export class Polling {
  constructor(
    private readonly parts: PollParts,
    private readonly limits: PollLimits,
  ) {}

  /** `crashes`: how often in a row a worker died over this run's poll. */
  async handle(runId: string, signal: AbortSignal, crashes: number): Promise<Verdict> {
    const poll = () => this.poll(runId, signal, crashes);
    return crashes > 0 ? this.parts.isolation.alone(poll) : poll();
  }

  private async poll(runId: string, signal: AbortSignal, crashes: number): Promise<Verdict> {
    const poll = await this.parts.dispatching.readForPoll(runId);
    if (!poll || poll.stage !== 'running') return done;
    const run = finishing(runId, poll);
    const provider = this.parts.providers.get(poll.provider);
    if (!provider?.adapter.resume || !provider.adapter.onResume) {
      if (poll.overdue) return this.failOverdue(run);
      // Declared by an operator, and not known to this process yet: later, by one that knows it.
      return { kind: 'again', afterMs: troubledPauseMs };
    }
    if (crashes >= this.limits.MAX_POLL_CRASHES) {
      const note = `put aside after ${crashes} crashes while polling`;
      await this.parts.outcomes.failInternally(run, 'This run could not be processed.', note);
      return done;
    }
    const handle = poll.handle as Handle;
    const cancel = poll.cancelDue && !poll.overdue ? provider.adapter.cancel?.(handle) : undefined;
    if (cancel) {
      await this.cancel(provider, run, handle, cancel, signal);
      return { kind: 'again', afterMs: 0 };
    }
    const heldMs = this.untilLastLook(poll, poll.pausedMs ?? 0);
    if (heldMs > 0) return this.again(run, poll, heldMs);
    await failpoint('poll.beforeCall', runId);
    const startedAtMs = Date.now();
    return this.parts.budget.during(async (share) => {
      const outcome = await this.callProvider(provider, run, poll, share, signal);
      if (outcome === null) return { kind: 'again', afterMs: 0 };
      if (!this.parts.tracing.on || goesOn(outcome)) return this.record(run, poll, outcome);
      const span = this.parts.tracing.start({
        name: 'poll',
        kind: 'consumer',
        parent: poll.facts.traceparent,
        attributes: { 'router.run_id': runId, 'router.outcome': outcome.kind },
        startedAtMs,
      });
      return this.record(run, poll, outcome).finally(() => span.end());
    });
  }

  /** Null when the worker is closing: what arrived belongs to whoever polls next. */
  private async callProvider(
    provider: BoundProvider,
    { runId }: Finishing,
    poll: Poll,
    share: Share,
    signal: AbortSignal,
  ): Promise<Outcome | null> {
    const limitMs = this.limits.PROVIDER_POLL_TIMEOUT_MS;
    try {
      const handle = poll.handle as Handle;
      const call = provider.adapter.resume?.(handle);
      if (!call) throw new Error(`${provider.name} has nothing to poll`);
      const reply = await this.parts.client.call(provider, {
        runId,
        operation: 'resume',
        call,
        timeoutMs: poll.overdue ? limitMs : Math.min(limitMs, poll.leftMs),
        share,
        signal,
      });
      await failpoint('poll.afterCall', runId);
      return signal.aborted ? null : await this.parts.replies.resumed(provider, handle, reply);
    } catch (error) {
      // A handle that this release cannot read, for example: it must not keep a run alive for ever.
      if (!poll.overdue) throw error;
      this.parts.log.error({ error, run_id: runId }, 'an overdue run could not be polled');
      return { kind: 'failed', failure: { class: 'partner_timeout', retry: 'same_call' } };
    }
  }

  private async record(run: Finishing, poll: Poll, outcome: Outcome): Promise<Verdict> {
    switch (outcome.kind) {
      case 'pending':
        if (poll.overdue) return this.failOverdue(run);
        if (poll.lostPolls > 0) await this.parts.dispatching.noteLostPolls(run.runId, run.epoch, 0);
        return this.again(run, poll, Math.min(outcome.afterMs, this.limits.PROVIDER_POLL_PAUSE_MS));
      case 'next':
        if (!(await this.parts.dispatching.saveHandle(run.runId, run.epoch, outcome.handle, 0))) return done;
        return { kind: 'again', afterMs: 0 };
      case 'succeeded':
        await this.parts.results.take(run, outcome.output);
        return done;
      case 'canceled':
        if (poll.cancelRequested) await this.parts.outcomes.finish(run, { outcome: 'cancelled' });
        else
          await this.parts.outcomes.fail(run, {
            class: 'partner_failed',
            retry: 'never',
            note: 'cancelled by the partner',
          });
        return done;
      case 'failed':
        return this.recordFailure(run, poll, outcome.failure);
    }
  }

  /** A failed poll must never fail a run that may still complete. */
  private async recordFailure(run: Finishing, poll: Poll, failure: ProviderFailure): Promise<Verdict> {
    const lostPolls = failure.lost ? poll.lostPolls + 1 : 0;
    const isLost = lostPolls >= lostPollsAllowed;
    if (failure.retry !== 'same_call' || isLost) {
      // Some partners forget a run that they were told to cancel.
      if (isLost && poll.cancelRequested && !poll.cancelDue)
        await this.parts.outcomes.finish(run, { outcome: 'cancelled' });
      else await this.parts.outcomes.fail(run, failure);
      return done;
    }
    await this.parts.asks.heed(run.provider, 'poll', failure);
    if (poll.overdue) return this.failOverdue(run);
    if (lostPolls !== poll.lostPolls)
      await this.parts.dispatching.noteLostPolls(run.runId, run.epoch, lostPolls);
    this.parts.log.warn({ run_id: run.runId, note: failure.note }, 'poll failed, polling on');
    const askedMs = failure.afterMs ?? troubledPauseMs;
    return this.again(
      run,
      poll,
      Math.max(this.untilLastLook(poll, askedMs), Math.min(askedMs, troubledPauseMs)),
    );
  }

  /** Only after a poll that began when the budget was spent: the generation may have ended while no worker looked. */
  private async failOverdue(run: Finishing): Promise<Verdict> {
    await this.parts.outcomes.fail(run, {
      class: 'partner_timeout',
      retry: 'never',
      note: 'time budget spent',
    });
    return done;
  }

  /** What was generated is paid: a partner that wants to be left alone is asked once more before the time is over. */
  private untilLastLook({ leftMs }: Poll, askedMs: number): number {
    return Math.min(askedMs, leftMs - this.limits.PROVIDER_POLL_TIMEOUT_MS);
  }

  private async again(run: Finishing, poll: Poll, askedMs: number): Promise<Verdict> {
    const afterMs = Math.max(shortestPauseMs, Math.min(askedMs, poll.leftMs));
    // The sweep wakes what is overdue, and must not cut short a pause that the partner asked for.
    if (poll.dueSoon || afterMs > longPauseMs) await this.parts.dispatching.moveDue(run.runId, afterMs);
    return { kind: 'again', afterMs };
  }

  /** One try: the partner's word on it shows in the next poll, and an ask is no promise. */
  private async cancel(
    provider: BoundProvider,
    run: Finishing,
    handle: Handle,
    call: HttpCall,
    signal: AbortSignal,
  ): Promise<void> {
    const timeoutMs = this.limits.PROVIDER_POLL_TIMEOUT_MS;
    const reply = await this.parts.budget.during((share) =>
      this.parts.client.call(provider, {
        runId: run.runId,
        operation: 'cancel',
        call,
        timeoutMs,
        share,
        signal,
      }),
    );
    const answer = provider.adapter.onCancel?.(handle, reply) ?? 'unknown';
    this.parts.log.info({ run_id: run.runId, answer }, 'cancellation passed on');
    await this.parts.dispatching.noteCancelSent(run.runId, run.epoch);
  }
}

/** Such a poll leaves no span: a generation that takes an hour would leave a thousand. */
const goesOn = (outcome: Outcome): boolean =>
  outcome.kind === 'pending' || (outcome.kind === 'failed' && outcome.failure.retry === 'same_call');
