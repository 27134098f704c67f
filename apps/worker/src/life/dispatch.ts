import { failpoint, type Log, type Metrics, type Span, type Tracing } from '#observability';
import type { Claim, RunRepository, PayloadBody } from '#persistence';
import type { BoundProvider, HttpCall, Outcome } from '#providers';
import type { Transport, Verdict } from '#queue';
import type { ByteBudget, Share } from '../bytes/byte-budget.js';
import type { Payloads } from '../bytes/payloads.js';
import type { PartnerClient } from '../calls/partner-client.js';
import type { ReplyReader } from '../calls/reply-reader.js';
import type { Isolation } from './isolation.js';
import type { Leases } from './leases.js';
import { type Finishing, finishing, type Outcomes } from './outcomes.js';
import type { PartnerAsks } from './partner-asks.js';
import { retryPauseMs } from './pauses.js';
import type { Results } from './results.js';

const done: Verdict = { kind: 'done' };
/** With less time left a submission is not made again: its answer would come too late, and be paid for. */
const leastSubmitMs = 500;

interface DispatchParts {
  dispatching: RunRepository;
  isolation: Isolation;
  leases: Leases;
  outcomes: Outcomes;
  results: Results;
  asks: PartnerAsks;
  payloads: Payloads;
  budget: ByteBudget;
  client: PartnerClient;
  replies: ReplyReader;
  transport: Transport;
  tracing: Tracing;
  metrics: Metrics;
  log: Log;
}

interface DispatchLimits {
  CLAIM_LEASE_MS: number;
  MAX_CRASHES: number;
  PROVIDER_POLL_PAUSE_MS: number;
}

/** Claims a run and submits it to its provider, at most once unless the partner provably did not accept it. */
export class Dispatch {
  constructor(
    private readonly parts: DispatchParts,
    private readonly limits: DispatchLimits,
  ) {}

  /** `crashes`: how often in a row a worker died over this job. */
  async handle(
    provider: BoundProvider,
    runId: string,
    signal: AbortSignal,
    crashes: number,
  ): Promise<Verdict> {
    const dispatch = async (): Promise<Verdict> =>
      signal.aborted ? { kind: 'again', afterMs: 0 } : this.dispatch(provider, runId, crashes);
    return crashes > 0 ? this.parts.isolation.alone(dispatch) : this.parts.isolation.among(dispatch);
  }

  private async dispatch(provider: BoundProvider, runId: string, crashes: number): Promise<Verdict> {
    const claim = await this.parts.dispatching.claim(runId, this.limits.CLAIM_LEASE_MS);
    switch (claim.kind) {
      case 'gone':
        // Perhaps its worker died between the handle and the first poll. A poll of a run that needs none ends at once.
        if (crashes > 0) await this.deliverPoll(provider.name, runId, 0);
        return done;
      case 'held':
        return { kind: 'again', afterMs: claim.freeInMs + 100 };
      case 'abandoned':
        return this.giveUp(claim, runId);
      case 'claimed':
        return this.parts.budget.during((share) =>
          this.parts.leases.during({ runId, epoch: claim.epoch }, () => {
            const span = this.parts.tracing.start({
              name: 'dispatch',
              kind: 'consumer',
              parent: claim.facts.traceparent,
              attributes: { 'router.run_id': runId, 'router.model': claim.model },
            });
            return this.submit(provider, runId, claim, share, span).finally(() => span.end());
          }),
        );
    }
  }

  /** A worker died during the submission: whether the partner accepted it is unknown, so it is not repeated. */
  private async giveUp(claim: Extract<Claim, { kind: 'abandoned' }>, runId: string): Promise<Verdict> {
    const won = await this.parts.outcomes.failInternally(
      { ...claim, runId, chargesOnPolicyRejection: 'no', assets: [] },
      'Outcome unknown: the provider may have received this run, so it was not submitted again.',
      'abandoned submission',
    );
    if (won) {
      this.parts.metrics.dispatchUnknown.inc({ provider: claim.provider });
      this.parts.log.error({ run_id: runId, provider: claim.provider }, 'a worker died during a submission');
    }
    return done;
  }

  private async submit(
    provider: BoundProvider,
    runId: string,
    claim: Extract<Claim, { kind: 'claimed' }>,
    share: Share,
    span: Span,
  ): Promise<Verdict> {
    const { epoch, model, facts } = claim;
    const run = finishing(runId, claim);
    if (claim.crashes >= this.limits.MAX_CRASHES) {
      await this.parts.outcomes.failInternally(
        run,
        'This run could not be processed.',
        `put aside after ${claim.crashes} crashes`,
      );
      return done;
    }
    if (claim.leftMs !== null && claim.leftMs < leastSubmitMs) {
      await this.parts.outcomes.fail(run, {
        class: 'partner_unavailable',
        retry: 'never',
        note: 'refused until the budget was spent',
      });
      return done;
    }
    await failpoint('dispatch.afterClaim', runId);
    const body = await this.inputOf(runId, claim, share);
    if (body === null) return this.postpone(runId, epoch, retryPauseMs(1));
    const submission = { runId, model, upstream: facts.upstream, body };
    let call: HttpCall;
    try {
      call = provider.adapter.submit(submission);
    } catch (error) {
      this.parts.log.error({ error, run_id: runId }, 'the adapter could not build the submission');
      await this.parts.outcomes.failInternally(
        run,
        'This run could not be processed.',
        'no submission could be built',
      );
      return done;
    }
    const begunAtMs = performance.now();
    if (!(await this.parts.dispatching.beginSubmission(runId, epoch, this.limits.CLAIM_LEASE_MS)))
      return done;
    await failpoint('dispatch.beforeSubmit', runId);
    // A process that slept past its lease may have been given up meanwhile: the partner must not be paid for a
    // run that has its outcome. Nothing was sent, so the claim goes back if it still stands.
    if (performance.now() - begunAtMs >= this.limits.CLAIM_LEASE_MS) return this.postpone(runId, epoch, 0);
    // The job's signal is not passed on: a lost queue lock must not tear a submission that is being paid for.
    // The lease in Postgres is the claim, and the time limit bounds the wait.
    const timeoutMs = Math.min(provider.submitTimeoutMs, claim.leftMs ?? facts.budgetMs);
    // The context ends here: a partner learns nothing of our callers' traces.
    const submitting = this.parts.tracing.start({ name: 'submit', kind: 'client', parent: span.traceparent });
    const signal = await this.parts.client.call(provider, {
      runId,
      operation: 'submit',
      call,
      timeoutMs,
      share,
    });
    submitting.end('fault' in signal ? signal.fault : undefined);
    await failpoint('dispatch.afterSubmit', runId);
    return this.record(run, await this.parts.replies.submitted(provider, submission, signal));
  }

  /** Null while the store does not give it: nothing was sent, so the run is dispatched later. */
  private async inputOf(
    runId: string,
    { body }: { body: PayloadBody },
    share: Share,
  ): Promise<Uint8Array | null> {
    try {
      return await this.parts.payloads.read(body, share, AbortSignal.timeout(this.limits.CLAIM_LEASE_MS * 4));
    } catch (error) {
      this.parts.log.warn(
        { error, run_id: runId },
        'an input could not be read from the store, trying again',
      );
      return null;
    }
  }

  private async record(run: Finishing, outcome: Outcome): Promise<Verdict> {
    const { runId, epoch } = run;
    switch (outcome.kind) {
      case 'pending':
      case 'next': {
        const afterMs =
          outcome.kind === 'pending' ? Math.min(outcome.afterMs, this.limits.PROVIDER_POLL_PAUSE_MS) : 0;
        const saved = await this.parts.dispatching.saveHandle(runId, epoch, outcome.handle, afterMs);
        await failpoint('dispatch.afterHandle', runId);
        if (!saved) {
          this.parts.log.error(
            { run_id: runId, handle: outcome.handle },
            'a handle came too late: the claim was lost',
          );
          return done;
        }
        await this.deliverPoll(run.provider, runId, saved.cancelRequested ? 0 : afterMs);
        return done;
      }
      case 'succeeded':
        await this.parts.results.take(run, outcome.output);
        return done;
      case 'canceled':
        await this.parts.outcomes.fail(run, {
          class: 'partner_failed',
          retry: 'never',
          note: 'cancelled at submission',
        });
        return done;
      case 'failed': {
        if (outcome.failure.retry !== 'new_submit') {
          await this.parts.outcomes.fail(run, outcome.failure);
          return done;
        }
        const afterMs = outcome.failure.afterMs ?? retryPauseMs(epoch);
        this.parts.log.info(
          { run_id: runId, note: outcome.failure.note, after_ms: afterMs },
          'submission refused, trying again',
        );
        // Noted before this run is given back: nothing else of the provider's is claimed in between.
        await this.parts.asks.heed(run.provider, 'submit', outcome.failure);
        return this.postpone(runId, epoch, afterMs);
      }
    }
  }

  private async deliverPoll(provider: string, runId: string, afterMs: number): Promise<void> {
    const [accepted] = await this.parts.transport.deliver([{ lane: 'poll', provider, runId, afterMs }]);
    if (!accepted) await this.parts.dispatching.leaveToReconciler(runId, afterMs);
  }

  private async postpone(runId: string, epoch: number, afterMs: number): Promise<Verdict> {
    const boundedMs = await this.parts.dispatching.postpone(runId, epoch, afterMs);
    return boundedMs === null ? done : { kind: 'again', afterMs: boundedMs };
  }
}
