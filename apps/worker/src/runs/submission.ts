import { SETTINGS } from '#infrastructure';
import {
  backoff,
  failpoint,
  type Log,
  LOG,
  Metrics,
  noteCall,
  runAttributes,
  TRACING,
  type Tracing,
} from '#observability';
import { DispatchRepository, type TakenRun } from '#persistence';
import {
  type BoundProvider,
  type HttpCall,
  type KeyedProvider,
  type Outcome,
  type ProviderFailure,
  RefusedInput,
  type Run,
} from '#providers';
import { done } from '#queue';
import { withMembersFirst } from '#schemas';
import { StorageError } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { AttemptRecorder } from '../attempts/attempt-recorder.js';
import { Payloads, type Share } from '../bytes/payloads.js';
import { ProviderCall } from '../calls/provider-call.js';
import { InputFiles } from '../calls/input-files.js';
import { ProviderKeys } from '../keys/provider-keys.js';
import type { WorkerSettings } from '../settings.js';
import type { OngoingRun } from './ongoing-run.js';
import { Outcomes, type Submitted } from './outcomes.js';
import { arrivedMicros } from './arrived-price.js';
import { StreamedRuns } from './streamed-runs.js';

const retryTerms = { baseMs: 500, maxMs: 30_000 };
/** After this many claims, about six minutes, a failed upload or an unread input ends the run, which no other limit would. */
const maxTries = 20;
/** A run is not submitted with less time left: its result would be too late but still paid for. */
const minSubmitMs = 500;

/** A run whose provider may still refuse it. */
type WaitingRun = OngoingRun & Pick<TakenRun, 'leftMs'>;

/** Submits a claimed run to its provider, at most once unless the provider provably did not accept it. */
@Injectable()
export class Submission {
  constructor(
    private readonly runs: DispatchRepository,
    private readonly outcomes: Outcomes,
    private readonly payloads: Payloads,
    private readonly files: InputFiles,
    private readonly calls: ProviderCall,
    private readonly keys: ProviderKeys,
    private readonly attempts: AttemptRecorder,
    private readonly metrics: Metrics,
    private readonly streamed: StreamedRuns,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    @Inject(LOG) private readonly log: Log,
    @Inject(TRACING) private readonly tracing: Tracing,
  ) {}

  async submit(of: BoundProvider, run: TakenRun): Promise<Submitted> {
    const { runId, epoch, model, facts, workspaceId } = run;
    noteCall(runId, facts.callId);
    const takenAtMs = performance.now();
    const key = await this.keys.keyFor(of, run);
    if (key === 'gone') return await this.outcomes.endWithoutKey(run);
    const provider = { ...of, key };
    using share = this.payloads.openShare(workspaceId);
    using span = this.tracing.start({
      name: 'dispatch',
      kind: 'consumer',
      parent: facts.traceparent,
      attributes: runAttributes({ ...run, callId: facts.callId }),
    });
    if (run.crashes >= this.settings.MAX_CRASHES)
      return await this.outcomes.failInternally(run, `gave up after ${run.crashes} crashes`);
    if (isTooLate(run.leftMs)) return await this.failUnsent(provider, run);
    await failpoint('dispatch.afterClaim', runId);
    const input = await this.prepareInput(provider, run, share);
    if (input === 'unread') return await this.waitForInput(run);
    if ('class' in input) return await this.record(provider, run, { kind: 'failed', failure: input });
    // Reading the input and uploading its files took time.
    const leftMs = run.leftMs === null ? null : run.leftMs - (performance.now() - takenAtMs);
    if (isTooLate(leftMs)) return await this.failUnsent(provider, run);
    let call: HttpCall;
    try {
      call = provider.adapter.submit(input);
    } catch (error) {
      if (error instanceof RefusedInput)
        return await this.outcomes.failRun(run, {
          class: 'rejected_input',
          retry: 'never',
          fields: error.fields,
        });
      this.log.error({ error, run_id: runId }, 'the adapter could not build a submission, failing the run');
      return await this.outcomes.failInternally(run, 'could not build a submission');
    }
    const begunAtMs = performance.now();
    if (!(await this.runs.beginSubmission(runId, epoch, this.settings.CLAIM_LEASE_MS))) return done;
    await failpoint('dispatch.beforeSubmit', runId);
    // If this process slept past its lease, another worker may have ended the run, which must not be paid for
    // then. Nothing was sent, so the claim is released if it is still ours.
    if (performance.now() - begunAtMs >= this.settings.CLAIM_LEASE_MS)
      return await this.outcomes.postpone(run, 0);
    // Only a stream can be stopped: aborting another submission could lose a result that is being paid for.
    // The lease in Postgres holds the claim, and the time limit bounds the wait.
    using streamed = call.stream && facts.streams && this.streamed.begin(runId, facts.streams);
    const read = await this.calls.submit(
      provider,
      { runId, epoch, model, upstream: facts.upstream, streams: streamed !== undefined },
      {
        call,
        signal: streamed?.signal,
        closing: streamed?.closing,
        passOn: streamed?.passOn,
        hiddenTokensPerSecond: facts.streams?.hiddenTokensPerSecond,
        calls: facts.streams?.tools?.calls,
        workspaceId,
        timeoutMs: Math.min(provider.submitTimeoutMs, leftMs ?? facts.budgetMs),
        share,
        reported: facts.reported,
        assets: facts.assets,
        callId: facts.callId,
        hasFallback: facts.fallback !== undefined,
        parent: span,
      },
    );
    if (read === null) return await this.outcomes.readLater(run);
    const { outcome, reportedMicros, writtenTokens: tokens, isKept, ms } = read;
    const written = tokens === undefined ? undefined : { tokens, ms, isOpen: facts.isOpen };
    const leftAfterMs = (leftMs ?? facts.budgetMs) - ms;
    const ended = {
      ...run,
      leftMs: leftAfterMs,
      reportedMicros,
      arrivedMicros: arrivedMicros(facts.streams, read),
      written,
    };
    if (streamed?.signal.aborted && outcome.kind !== 'succeeded')
      return await this.outcomes.endCancelled(ended);
    return await this.record(provider, ended, outcome, isKept);
  }

  private failUnsent(provider: KeyedProvider, run: TakenRun): Promise<Submitted> {
    this.calls.noteExpiry(provider, run.runId, 'submit');
    return this.outcomes.failUnsent(run);
  }

  /**
   * Returns the input with its files, or the failure that ends the run; failed uploads are retried up to a
   * limit. `unread` if the input or its files could not be read from the store.
   */
  private async prepareInput(
    provider: KeyedProvider,
    { runId, body, model, facts, workspaceId, epoch }: TakenRun,
    share: Share,
  ): Promise<Run | ProviderFailure | 'unread'> {
    try {
      const signal = AbortSignal.timeout(this.settings.CLAIM_LEASE_MS * 4);
      const bytes = withMembersFirst(await this.payloads.readBody(body, share, signal), facts.members ?? {});
      const streams = facts.streams !== undefined;
      const { upstream, headers } = facts;
      const run = { runId, model, upstream, headers, streams, body: bytes };
      const prepared = await this.files.prepareFiles(provider, run, { workspaceId, share });
      return 'class' in prepared && isLastTry(epoch) ? { ...prepared, retry: 'never' } : prepared;
    } catch (error) {
      const reason = error instanceof StorageError ? error.failure : 'failed';
      // In an outage of the store each run of the queue logs this, and the attempt holds the same text.
      this.log.warn(
        { run_id: runId, reason, ...(reason === 'failed' && { error }) },
        'could not read an input or its files, retrying',
      );
      this.metrics.unreadInputs.inc({ reason });
      this.attempts.note(provider, runId, {
        phase: 'input',
        class: reason,
        retry: isLastTry(epoch) ? 'never' : 'new_submit',
        reading: `The input or a file of it could not be read from our store: ${String(error)}.`,
      });
      return 'unread';
    }
  }

  /** Nothing was sent, so the run is dispatched later, up to a limit. */
  private async waitForInput(run: TakenRun): Promise<Submitted> {
    return isLastTry(run.epoch)
      ? this.outcomes.loseInput(run)
      : this.outcomes.postpone(run, backoff(run.epoch, retryTerms));
  }

  /** A run whose reply was stored (`isKept`) is past its submission, so it is not submitted again. */
  private async record(
    provider: KeyedProvider,
    run: WaitingRun,
    outcome: Outcome,
    isKept = false,
  ): Promise<Submitted> {
    switch (outcome.kind) {
      case 'pending': {
        const afterMs = Math.min(outcome.afterMs, this.settings.PROVIDER_POLL_PAUSE_MS);
        return this.outcomes.pending(run, outcome.handle, afterMs);
      }
      case 'next':
        return this.outcomes.pending(run, outcome.handle, 0);
      case 'succeeded':
        return this.outcomes.takeOutput(run, outcome);
      case 'canceled':
        return this.outcomes.failRun(run, {
          class: 'provider_failed',
          retry: 'never',
          note: 'cancelled at submission',
        });
      case 'failed':
        return isKept || run.arrivedMicros !== undefined
          ? this.outcomes.failRun(run, outcome.failure)
          : this.retry(provider, run, outcome.failure);
    }
  }

  private async retry(
    provider: KeyedProvider,
    run: WaitingRun,
    failure: ProviderFailure,
  ): Promise<Submitted> {
    const { runId, epoch } = run;
    if (await this.keys.drop(provider, failure)) {
      this.outcomes.countAccountTrouble(run, failure);
      return this.outcomes.postpone(run, 0);
    }
    if (failure.retry !== 'new_submit') return this.outcomes.failRun(run, failure);
    const freeInMs = await this.keys.cool(provider, 'submit', failure);
    if (freeInMs === 0) return this.outcomes.postpone(run, 0);
    const paused = freeInMs === undefined ? failure : { ...failure, afterMs: freeInMs };
    // The pause is recorded before this run is released, so that no other run of the provider is claimed in
    // between.
    await this.outcomes.pauseCalls(run, 'submit', paused);
    const hasFallback = run.facts.fallback !== undefined;
    const wantedMs = paused.afterMs ?? backoff(epoch, retryTerms);
    const patienceMs = hasFallback || !failure.reply ? Infinity : patienceLeft(run);
    if (patienceMs <= 0 || (paused.afterMs ?? 0) > patienceMs)
      return this.outcomes.failRun(run, {
        ...failure,
        ...(failure.reply && { reply: { ...failure.reply, afterMs: wantedMs } }),
      });
    const afterMs = Math.min(wantedMs, patienceMs);
    this.log.info(
      { run_id: runId, note: failure.note, after_ms: afterMs },
      hasFallback ? 'submission failed, trying the next server' : 'submission failed, retrying',
    );
    if (!hasFallback) return this.outcomes.postpone(run, afterMs);
    return this.outcomes.fallBack(run);
  }
}

/** How long the caller still waits for a provider that does not accept the run. */
const patienceLeft = ({ leftMs, facts: { budgetMs, patienceMs = Infinity } }: WaitingRun): number =>
  patienceMs - (budgetMs - (leftMs ?? budgetMs));

const isLastTry = (epoch: number): boolean => epoch >= maxTries;

const isTooLate = (leftMs: number | null): boolean => leftMs !== null && leftMs < minSubmitMs;
