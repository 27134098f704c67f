import { failpoint, type Log, LOG, type Span } from '#observability';
import { type PayloadBody, RunRepository } from '#persistence';
import {
  type BoundProvider,
  type HttpCall,
  type Outcome,
  type ProviderFailure,
  RefusedInput,
  type Run,
} from '#providers';
import type { JobResult } from '#queue';
import { withMembersFirst } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import type { Share } from '../bytes/byte-budget.js';
import { ProviderCall } from '../calls/provider-call.js';
import { SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';
import type { Claimed } from './claims.js';
import { KeptReplies } from './kept-replies.js';
import { type Finishing, finishing, Outcomes } from './outcomes.js';
import { ProviderBackoff } from './provider-backoff.js';

/** `moved`: another provider serves the run now, and nothing is under way for it. */
type Submitted = JobResult | { kind: 'moved'; provider: string };

const done: JobResult = { kind: 'done' };
/** Claims until a failed upload ends the run, which has no other limit before its first submission: six minutes of pauses. */
const maxTries = 20;
/** With less time left a submission is not made again: its answer would come too late, and be paid for. */
const minSubmitMs = 500;

/** Submits a claimed run to its provider, at most once unless the provider provably did not accept it. */
@Injectable()
export class Submission {
  constructor(
    private readonly runs: RunRepository,
    private readonly outcomes: Outcomes,
    private readonly calls: ProviderCall,
    private readonly backoff: ProviderBackoff,
    private readonly keptReplies: KeptReplies,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    @Inject(LOG) private readonly log: Log,
  ) {}

  submit(provider: BoundProvider, runId: string, claim: Claimed): Promise<Submitted> {
    const span = {
      name: 'dispatch',
      kind: 'consumer',
      parent: claim.facts.traceparent,
      attributes: { 'router.run_id': runId, 'router.model': claim.model },
    } as const;
    return this.calls.withShare((share) =>
      this.calls.traced(span, (started) => this.submitTraced(provider, runId, claim, share, started)),
    );
  }

  private async submitTraced(
    provider: BoundProvider,
    runId: string,
    claim: Claimed,
    share: Share,
    span: Span,
  ): Promise<Submitted> {
    const { epoch, model, facts } = claim;
    const claimedAtMs = performance.now();
    const run = finishing(runId, claim);
    if (claim.crashes >= this.settings.MAX_CRASHES) {
      await this.outcomes.failInternally(
        run,
        'This run could not be processed.',
        `put aside after ${claim.crashes} crashes`,
      );
      return done;
    }
    if (claim.leftMs !== null && claim.leftMs < minSubmitMs) return this.failUnsent(run);
    await failpoint('dispatch.afterClaim', runId);
    const body = await this.inputOf(runId, claim, share);
    if (body === null) return this.postpone(runId, epoch, retryPauseMs(epoch));
    const input = {
      runId,
      model,
      upstream: facts.upstream,
      body: withMembersFirst(body, facts.members ?? {}),
    };
    const submission = await this.withFiles(provider, input, claim, share);
    if (submission === null) return this.postpone(runId, epoch, retryPauseMs(epoch));
    if ('class' in submission) return this.record(run, { kind: 'failed', failure: submission });
    // Its input was read meanwhile, and its files uploaded.
    const leftMs = claim.leftMs === null ? null : claim.leftMs - (performance.now() - claimedAtMs);
    if (leftMs !== null && leftMs < minSubmitMs) return this.failUnsent(run);
    let call: HttpCall;
    try {
      call = provider.adapter.submit(submission);
    } catch (error) {
      if (error instanceof RefusedInput) {
        await this.outcomes.fail(run, { class: 'rejected_input', retry: 'never', fields: error.fields });
        return done;
      }
      this.log.error({ error, run_id: runId }, 'the adapter could not build the submission');
      await this.outcomes.failInternally(
        run,
        'This run could not be processed.',
        'no submission could be built',
      );
      return done;
    }
    const begunAtMs = performance.now();
    if (!(await this.runs.beginSubmission(runId, epoch, this.settings.CLAIM_LEASE_MS))) return done;
    await failpoint('dispatch.beforeSubmit', runId);
    // A process that slept past its lease may have been given up meanwhile: the provider must not be paid for a
    // run that has its outcome. Nothing was sent, so the claim goes back if it still stands.
    if (performance.now() - begunAtMs >= this.settings.CLAIM_LEASE_MS) return this.postpone(runId, epoch, 0);
    // The job's signal is not passed on: a lost queue lock must not tear a submission that is being paid for.
    // The lease in Postgres is the claim, and the time limit bounds the wait.
    const timeoutMs = Math.min(provider.submitTimeoutMs, leftMs ?? facts.budgetMs);
    const read = await this.calls.submit(provider, submission, {
      call,
      workspaceId: claim.workspaceId,
      timeoutMs,
      share,
      reported: facts.reported,
      assets: facts.assets,
      parent: span,
      onReply: () => failpoint('dispatch.afterSubmit', runId),
      keep: (reply) => this.keptReplies.keep(run, reply),
    });
    if (read === null) {
      await this.outcomes.readLater(run);
      return done;
    }
    const { outcome, reportedMicros, isKept } = read;
    return this.record({ ...run, reportedMicros }, outcome, isKept);
  }

  private async failUnsent(run: Finishing): Promise<JobResult> {
    await this.outcomes.fail(run, {
      class: 'provider_unavailable',
      retry: 'never',
      note: 'refused until the budget was spent',
    });
    return done;
  }

  /** Null while the store does not give it: nothing was sent, so the run is dispatched later. */
  private async inputOf(
    runId: string,
    { body }: { body: PayloadBody },
    share: Share,
  ): Promise<Uint8Array | null> {
    try {
      return await this.calls.readInput(body, share, AbortSignal.timeout(this.settings.CLAIM_LEASE_MS * 4));
    } catch (error) {
      this.log.warn({ error, run_id: runId }, 'an input could not be read from the store, trying again');
      return null;
    }
  }

  /** What the run is without, or null while the store does not answer; an upload is not tried for ever. */
  private async withFiles(
    provider: BoundProvider,
    input: Run,
    { workspaceId, epoch }: Claimed,
    share: Share,
  ): Promise<Run | ProviderFailure | null> {
    try {
      const found = await this.calls.withFiles(provider, input, { workspaceId, share });
      return 'class' in found && epoch >= maxTries ? { ...found, retry: 'never' } : found;
    } catch (error) {
      this.log.warn({ error, run_id: input.runId }, 'the files of an input could not be read, trying again');
      return null;
    }
  }

  /** A run whose reply was kept has left the submission, so it is not submitted again. */
  private async record(run: Finishing, outcome: Outcome, isKept = false): Promise<Submitted> {
    const { runId, epoch } = run;
    switch (outcome.kind) {
      case 'pending':
        await this.outcomes.pending(
          run,
          outcome.handle,
          Math.min(outcome.afterMs, this.settings.PROVIDER_POLL_PAUSE_MS),
        );
        return done;
      case 'next':
        await this.outcomes.pending(run, outcome.handle, 0);
        return done;
      case 'succeeded':
        await this.outcomes.take(run, outcome.output);
        return done;
      case 'canceled':
        await this.outcomes.fail(run, {
          class: 'provider_failed',
          retry: 'never',
          note: 'cancelled at submission',
        });
        return done;
      case 'failed': {
        if (isKept || outcome.failure.retry !== 'new_submit') {
          await this.outcomes.fail(run, outcome.failure);
          return done;
        }
        const afterMs = outcome.failure.afterMs ?? retryPauseMs(epoch);
        this.log.info(
          { run_id: runId, note: outcome.failure.note, after_ms: afterMs },
          run.hasFallback ? 'submission refused, trying the next server' : 'submission refused, trying again',
        );
        // Noted before this run is given back: nothing else of the provider's is claimed in between.
        await this.backoff.record(run.provider, 'submit', outcome.failure);
        const next = run.hasFallback ? await this.runs.fallBack(runId, epoch) : null;
        if (next !== null) return { kind: 'moved', provider: next };
        return this.postpone(runId, epoch, afterMs);
      }
    }
  }

  private async postpone(runId: string, epoch: number, afterMs: number): Promise<JobResult> {
    const boundedMs = await this.runs.postpone(runId, epoch, afterMs);
    return boundedMs === null ? done : { kind: 'retry', delayMs: boundedMs };
  }
}

const firstRetryMs = 500;
const maxRetryMs = 30_000;

/** Pause in milliseconds before attempt `attempt` (1-based), doubling, with jitter so that crowds spread out. */
export function retryPauseMs(attempt: number): number {
  const full = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempt - 1, 10));
  return Math.round(full * (0.5 + Math.random() / 2));
}
