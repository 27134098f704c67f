import { failpoint, type Log, type Metrics } from '#observability';
import type { Claim, Dispatching } from '#persistence';
import type { BoundProvider, HttpCall, Outcome } from '#providers';
import type { Transport, Verdict } from '#queue';
import type { PartnerClient } from '../calls/partner-client.js';
import type { Isolation } from './isolation.js';
import type { Leases } from './leases.js';
import type { Finishing, Outcomes } from './outcomes.js';
import { retryPauseMs } from './pauses.js';

const done: Verdict = { kind: 'done' };

interface DispatchLimits {
  CLAIM_LEASE_MS: number;
  MAX_CRASHES: number;
  PROVIDER_POLL_PAUSE_MS: number;
}

/** Claims a run and submits it to its provider, at most once unless the partner provably did not accept it. */
export class Dispatch {
  constructor(
    private readonly dispatching: Dispatching,
    private readonly isolation: Isolation,
    private readonly leases: Leases,
    private readonly outcomes: Outcomes,
    private readonly client: PartnerClient,
    private readonly transport: Transport,
    private readonly limits: DispatchLimits,
    private readonly metrics: Metrics,
    private readonly log: Log,
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
    return crashes > 0 ? this.isolation.alone(dispatch) : this.isolation.among(dispatch);
  }

  private async dispatch(provider: BoundProvider, runId: string, crashes: number): Promise<Verdict> {
    const claim = await this.dispatching.claim(runId, this.limits.CLAIM_LEASE_MS);
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
        return this.leases.during({ runId, epoch: claim.epoch }, () => this.submit(provider, runId, claim));
    }
  }

  /** A worker died during the submission: whether the partner accepted it is unknown, so it is not repeated. */
  private async giveUp(claim: Extract<Claim, { kind: 'abandoned' }>, runId: string): Promise<Verdict> {
    const won = await this.outcomes.failInternally(
      { ...claim, runId, chargesOnPolicyRejection: 'no' },
      'Outcome unknown: the provider may have received this run, so it was not submitted again.',
      'abandoned submission',
    );
    if (won) {
      this.metrics.dispatchUnknown.inc({ provider: claim.provider });
      this.log.error({ run_id: runId, provider: claim.provider }, 'a worker died during a submission');
    }
    return done;
  }

  private async submit(
    provider: BoundProvider,
    runId: string,
    claim: Extract<Claim, { kind: 'claimed' }>,
  ): Promise<Verdict> {
    const { epoch, model, facts, body } = claim;
    const run: Finishing = {
      runId,
      epoch,
      provider: provider.name,
      model,
      chargesOnPolicyRejection: facts.chargesOnPolicyRejection,
    };
    if (claim.crashes >= this.limits.MAX_CRASHES) {
      await this.outcomes.failInternally(
        run,
        'This run could not be processed.',
        `put aside after ${claim.crashes} crashes`,
      );
      return done;
    }
    if (claim.leftMs !== null && claim.leftMs <= 0) {
      await this.outcomes.fail(run, {
        class: 'partner_unavailable',
        retry: 'never',
        note: 'refused until the budget was spent',
      });
      return done;
    }
    await failpoint('dispatch.afterClaim', runId);
    const submission = { runId, model, upstream: facts.upstream, body };
    let call: HttpCall;
    try {
      call = provider.adapter.submit(submission);
    } catch (error) {
      this.log.error({ error, run_id: runId }, 'the adapter could not build the submission');
      await this.outcomes.failInternally(
        run,
        'This run could not be processed.',
        'no submission could be built',
      );
      return done;
    }
    const begunAtMs = performance.now();
    if (!(await this.dispatching.beginSubmission(runId, epoch, this.limits.CLAIM_LEASE_MS))) return done;
    await failpoint('dispatch.beforeSubmit', runId);
    // A process that slept past its lease may have been given up meanwhile: the partner must not be paid for a
    // run that has its outcome. Nothing was sent, so the claim goes back if it still stands.
    if (performance.now() - begunAtMs >= this.limits.CLAIM_LEASE_MS) return this.postpone(runId, epoch, 0);
    // The job's signal is not passed on: a lost queue lock must not tear a submission that is being paid for.
    // The lease in Postgres is the claim, and the time limit bounds the wait.
    const timeoutMs = Math.min(provider.submitTimeoutMs, claim.leftMs ?? facts.budgetMs);
    const signal = await this.client.call(provider, 'submit', call, timeoutMs);
    await failpoint('dispatch.afterSubmit', runId);
    return this.record(run, provider.adapter.onSubmit(submission, signal));
  }

  private async record(run: Finishing, outcome: Outcome): Promise<Verdict> {
    const { runId, epoch } = run;
    switch (outcome.kind) {
      case 'pending':
      case 'next': {
        const afterMs =
          outcome.kind === 'pending' ? Math.min(outcome.afterMs, this.limits.PROVIDER_POLL_PAUSE_MS) : 0;
        const saved = await this.dispatching.saveHandle(runId, epoch, outcome.handle, afterMs);
        await failpoint('dispatch.afterHandle', runId);
        if (!saved) {
          this.log.error(
            { run_id: runId, handle: outcome.handle },
            'a handle came too late: the claim was lost',
          );
          return done;
        }
        await this.deliverPoll(run.provider, runId, saved.cancelAsked ? 0 : afterMs);
        return done;
      }
      case 'succeeded':
        await this.outcomes.finish(run, { outcome: 'succeeded', ...outcome.output });
        return done;
      case 'canceled':
        await this.outcomes.fail(run, {
          class: 'partner_failed',
          retry: 'never',
          note: 'cancelled at submission',
        });
        return done;
      case 'failed': {
        if (outcome.failure.retry !== 'new_submit') {
          await this.outcomes.fail(run, outcome.failure);
          return done;
        }
        const afterMs = outcome.failure.afterMs ?? retryPauseMs(epoch);
        this.log.info(
          { run_id: runId, note: outcome.failure.note, after_ms: afterMs },
          'submission refused, trying again',
        );
        return this.postpone(runId, epoch, afterMs);
      }
    }
  }

  private async deliverPoll(provider: string, runId: string, afterMs: number): Promise<void> {
    const [accepted] = await this.transport.deliver([{ lane: 'poll', provider, runId, afterMs }]);
    if (!accepted) await this.dispatching.leaveToSweep(runId, afterMs);
  }

  private async postpone(runId: string, epoch: number, afterMs: number): Promise<Verdict> {
    return (await this.dispatching.postpone(runId, epoch, afterMs)) ? { kind: 'again', afterMs } : done;
  }
}
