import { setTimeout as pause } from 'node:timers/promises';
import { SETTINGS } from '#infrastructure';
import { failpoint, type Log, LOG, runAttributes, type Span, TRACING, type Tracing } from '#observability';
import { RunRepository } from '#persistence';
import {
  type Asked,
  type KeyedProvider,
  type Handle,
  type HttpCall,
  type HttpReply,
  isSuccess,
  mayUseAnother,
  type Outcome,
  type ReadReply,
  reportedMicros,
  type RowOfReplies,
  type Signal,
  type SubmittedRun,
  type Surprise,
} from '#providers';
import type { ReportedTerm } from '#schemas';
import { runKeys, StorageError } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { AttemptRecorder } from '../attempts/attempt-recorder.js';
import { failedCall } from '../attempts/reading.js';
import { SurpriseRecorder } from '../attempts/surprise-recorder.js';
import { Payloads, type Share } from '../bytes/payloads.js';
import type { WorkerSettings } from '../settings.js';
import { type OutboundCall, ProviderClient } from './provider-client.js';
import { ProviderResults } from './provider-results.js';
import { isLarge, isUnread, ReplyReader, type Unread } from './reply-reader.js';

type Terms = Pick<OutboundCall, 'workspaceId' | 'call' | 'timeoutMs' | 'share'> & RowOfReplies;
/** `signal` aborts an event stream, and nothing else. `hiddenTokensPerSecond`: of a model whose stream hides some. */
type SubmitTerms = Terms &
  Pick<OutboundCall, 'passOn' | 'signal' | 'closing'> & {
    hiddenTokensPerSecond?: number | undefined;
    calls?: readonly ReportedTerm[] | undefined;
  };
type StoredReply = Omit<HttpReply, 'body'>;

interface NotedCall {
  runId: string;
  phase: 'submit' | Handle['step'];
  hasFallback?: boolean;
  cancelRequested?: boolean;
}

const missingCost = {
  kind: 'missing_cost',
  note: 'The run has finished, and no reply reported the cost that the model’s row names.',
} as const satisfies Surprise;

/**
 * Replaces the provider's handle in a run whose submission reply is stored but not read yet. Its version
 * differs from that of handles, so that an older release does not poll the run.
 */
interface KeptReply extends StoredReply {
  v: 2;
  step: 'read';
}

/** A provider writes its record of a stream within a few seconds. */
const recordPausesMs = [500, 1_000, 2_000, 4_000];
const recordMs = 2_000;

/** If this worker dies before it has read a stored reply, another worker takes over after this time. */
const takeUpMs = 15_000;

/** The stored reply that a run's handle refers to, or null for a provider's handle. */
export function keptReply(handle: unknown): StoredReply | null {
  const { v, step, status, headers } = (handle ?? {}) as Partial<KeptReply>;
  return v === 2 && step === 'read' && status !== undefined && headers !== undefined
    ? { status, headers }
    : null;
}

/** One call to a provider: sends the adapter's request and lets the adapter read the reply. */
@Injectable()
export class ProviderCall {
  constructor(
    private readonly client: ProviderClient,
    private readonly replies: ReplyReader,
    private readonly results: ProviderResults,
    private readonly payloads: Payloads,
    private readonly runs: RunRepository,
    private readonly attempts: AttemptRecorder,
    private readonly surprises: SurpriseRecorder,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'STORE_PAYLOAD_MS'>,
    @Inject(LOG) private readonly log: Log,
    @Inject(TRACING) private readonly tracing: Tracing,
  ) {}

  /**
   * Submits a run. A large successful reply is stored before it is read, because it is paid for, cannot be
   * fetched again and takes long to read; `isKept` says whether it was stored. Null if it was stored but has
   * yet to be read. With `hasFallback`, a submission that may be repeated moves to the run's next server. `ms` is the
   * time of the call.
   */
  async submit(
    provider: KeyedProvider,
    run: SubmittedRun & { epoch: number },
    terms: SubmitTerms & { parent: Span; callId: string | undefined; hasFallback: boolean },
  ): Promise<(ReadReply & { isKept: boolean; ms: number }) | null> {
    const { parent, callId, hasFallback, reported, assets, hiddenTokensPerSecond, calls, ...call } = terms;
    const { runId, model } = run;
    const { workspaceId } = call;
    // The trace context is not sent to the provider, which must not learn about our callers' traces.
    const span = this.tracing.start({
      name: 'submit',
      kind: 'client',
      parent: parent.traceparent,
      attributes: runAttributes({ runId, callId, model, provider: provider.name, workspaceId }),
    });
    const sentAtMs = performance.now();
    const reply = await this.client.callProvider(provider, { ...call, runId, operation: 'submit' });
    const streamSeconds = 'status' in reply ? reply.streamSeconds : undefined;
    const ms = Math.round(streamSeconds === undefined ? performance.now() - sentAtMs : streamSeconds * 1000);
    span.end('fault' in reply ? reply.fault : undefined);
    await failpoint('dispatch.afterSubmit', runId);
    const hiddenTokens = Math.floor((hiddenTokensPerSecond ?? 0) * (streamSeconds ?? 0));
    const asked = { ...submitAsked(run, { reported, assets }), hiddenTokens, calls };
    // A stream is read at once, because only this process knows whether it was cut.
    const mayKeep = isLarge(reply) && isSuccess(reply) && !call.call.stream;
    if (!mayKeep || !(await this.keepReply(run, reply))) {
      const answer = await this.replies.readNow(provider, reply, asked, runId);
      const { share, closing } = call;
      const recorded = { ...run, workspaceId, share, closing };
      const read = await this.withRecord(provider, recorded, reply, { ...answer, reported });
      const cancelRequested = 'cut' in reply && reply.cut === 'cancelled';
      this.noteRead(
        provider,
        { runId, phase: 'submit', hasFallback, cancelRequested, reported },
        read,
        reply,
      );
      return { ...read, isKept: false, ms };
    }
    const read = await this.replies.read(provider, reply, asked, { runId, readings: 0, isKept: true });
    if (isUnread(read)) return null;
    this.noteRead(provider, { runId, phase: 'submit', reported }, read, reply);
    return { ...keptOutput(runId, read, reply), isKept: true, ms };
  }

  /** The reading of a stream that its caller left, with the cost in the provider's own record if it keeps one. */
  private async withRecord(
    provider: KeyedProvider,
    run: SubmittedRun & Pick<SubmitTerms, 'workspaceId' | 'share' | 'closing'>,
    reply: Signal,
    { reported, ...read }: ReadReply & Pick<RowOfReplies, 'reported'>,
  ): Promise<ReadReply> {
    const isUnknown = 'cut' in reply && reply.cut === 'cancelled' && read.reportedMicros === undefined;
    const record = isUnknown ? provider.adapter.streamRecord?.(run, reply) : undefined;
    if (record === undefined) return read;
    const { runId, workspaceId, share, closing: signal } = run;
    const outbound = {
      runId,
      workspaceId,
      share,
      call: record.call,
      operation: 'resume',
      timeoutMs: recordMs,
      signal,
    } as const;
    for (const afterMs of recordPausesMs) {
      await pause(afterMs, undefined, { ref: false, signal }).catch(() => {});
      if (signal?.aborted) break;
      const found = record.read(await this.client.callProvider(provider, outbound));
      const micros = found && reportedMicros(reported, found);
      if (micros !== undefined) return { ...read, reportedMicros: micros };
    }
    this.log.warn(
      { run_id: runId, provider: provider.name },
      'the provider has no record of a stream, billing an estimate',
    );
    return read;
  }

  /** Reads a stored reply to a submission. `readings` counts the earlier attempts that took too long. */
  async readKept(
    provider: KeyedProvider,
    run: SubmittedRun,
    reply: StoredReply,
    terms: RowOfReplies & { readings: number; share: Share; signal: AbortSignal },
  ): Promise<ReadReply | Unread> {
    const { readings, share, signal, ...row } = terms;
    const { runId } = run;
    try {
      const body = await this.payloads.readBody({ storedAs: runKeys.reply(runId) }, share, signal);
      const stored = { ...reply, body };
      const asked = submitAsked(run, row);
      const read = await this.replies.read(provider, stored, asked, { runId, readings, isKept: true });
      if (isUnread(read)) return read;
      this.noteRead(provider, { runId, phase: 'submit', reported: row.reported }, read, stored);
      return keptOutput(runId, read, stored);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.log.warn({ error, run_id: runId }, 'could not read a stored reply, retrying');
      return error.failure === 'not_found' ? 'gone' : 'busy';
    }
  }

  /**
   * Polls or fetches. Null if the signal aborted, because another worker may poll the run by then. `readings`
   * counts the earlier attempts to read a reply that took too long. `cancelRequested`: the caller wants the run to be
   * cancelled.
   */
  async resume(
    provider: KeyedProvider,
    runId: string,
    handle: Handle,
    terms: Omit<Terms, 'call'> & {
      readings: number;
      cancelRequested: boolean;
      /** Whether an earlier reply reported the cost. */
      hasCost: boolean;
      signal: AbortSignal;
    },
  ): Promise<ReadReply | Unread | null> {
    const { readings, cancelRequested, hasCost, reported, assets, ...rest } = terms;
    const call = provider.adapter.resume?.(handle);
    if (!call) throw new Error(`${provider.name} has nothing to poll`);
    const reply = await this.client.callProvider(provider, { ...rest, call, runId, operation: 'resume' });
    await failpoint('poll.afterCall', runId);
    if (terms.signal.aborted) return null;
    const asked = { phase: 'resume', handle, reported, assets } as const;
    const read = await this.replies.read(provider, reply, asked, { runId, readings });
    if (!isUnread(read)) {
      const missing = hasCost ? [] : reported;
      const noted = { runId, phase: handle.step, cancelRequested, reported: missing };
      this.noteRead(provider, noted, read, reply);
    }
    return read;
  }

  /**
   * Sends one cancellation. The next poll shows whether it had an effect, since the reply does not guarantee
   * one. Null if the request provably was not sent or the signal aborted; then the next poll tries again.
   */
  async cancel(
    provider: KeyedProvider,
    runId: string,
    handle: Handle,
    terms: { workspaceId: string; call: HttpCall; timeoutMs: number; signal: AbortSignal },
  ): Promise<'requested' | 'too_late' | 'unknown' | null> {
    using share = this.payloads.openShare(terms.workspaceId);
    const reply = await this.client.callProvider(provider, { ...terms, share, runId, operation: 'cancel' });
    if (terms.signal.aborted) return null;
    const isSent = !('fault' in reply) || reply.fault !== 'not_sent';
    const answer = isSent ? (provider.adapter.onCancel?.(handle, reply) ?? 'unknown') : null;
    if (answer !== 'requested') this.noteCancel(provider, runId, answer, reply);
    return answer;
  }

  /** Notes that a run's time budget ended before the provider accepted or finished it. */
  noteExpiry(provider: KeyedProvider, runId: string, phase: 'submit' | Handle['step']): void {
    this.attempts.note(provider, runId, {
      phase,
      class: phase === 'submit' ? 'provider_unavailable' : 'provider_timeout',
      retry: 'never',
      reading: `The time budget ended before the provider ${phase === 'submit' ? 'accepted' : 'finished'} the run.`,
    });
  }

  /** `reported`: the terms of the cost that no earlier reply has. */
  private noteRead(
    provider: KeyedProvider,
    call: NotedCall & Pick<RowOfReplies, 'reported'>,
    { outcome, reportedMicros }: ReadReply,
    reply: Signal,
  ): void {
    const { runId, reported } = call;
    this.noteOutcome(provider, call, outcome, reply);
    if (outcome.surprise) this.surprises.note(provider, runId, outcome.surprise, reply);
    // A report whose parts may all be missing promises nothing.
    const isPromised = reported.some(({ optional }) => !optional);
    if (outcome.kind === 'succeeded' && reportedMicros === undefined && isPromised)
      this.surprises.note(provider, runId, missingCost, reply);
  }

  private noteOutcome(provider: KeyedProvider, call: NotedCall, outcome: Outcome, reply: Signal): void {
    const { runId, phase, hasFallback = false, cancelRequested = false } = call;
    this.results.noteCall(provider, runId, reply, outcome);
    if (outcome.kind === 'canceled' && !cancelRequested)
      this.attempts.note(
        provider,
        runId,
        {
          phase,
          class: 'cancelled',
          retry: 'never',
          reading: 'The provider reports that the run was cancelled.',
        },
        reply,
      );
    if (outcome.kind === 'failed')
      this.attempts.note(
        provider,
        runId,
        failedCall(phase, outcome.failure, {
          hasFallback,
          hasOtherKey: phase === 'submit' && mayUseAnother(provider, outcome.failure),
        }),
        reply,
      );
  }

  private noteCancel(
    provider: KeyedProvider,
    runId: string,
    answer: 'too_late' | 'unknown' | null,
    reply: Signal,
  ): void {
    const trouble = {
      phase: 'cancel',
      class: answer ?? 'not_sent',
      reading: cancelReadings[answer ?? 'not_sent'],
      ...(answer === null && { retry: 'same_call' as const }),
    } as const;
    this.attempts.note(provider, runId, trouble, reply);
  }

  /** Returns false if the reply could not be stored, in which case this process has the only copy. */
  private async keepReply(
    { runId, epoch }: { runId: string; epoch: number },
    { status, headers, body }: HttpReply,
  ): Promise<boolean> {
    const { 'set-cookie': _cookies, ...kept } = headers;
    const handle: KeptReply = { v: 2, step: 'read', status, headers: kept };
    try {
      await this.payloads.putBody(runKeys.reply(runId), runId, body, {
        mediaType: headers['content-type'] ?? 'application/octet-stream',
        maxBytes: body.byteLength,
        signal: AbortSignal.timeout(this.settings.STORE_PAYLOAD_MS),
      });
      await this.runs.saveHandle(runId, epoch, handle, takeUpMs);
    } catch (error) {
      this.log.warn(
        { error, run_id: runId, bytes: body.byteLength },
        'could not store a large reply; this worker has the only copy',
      );
      return false;
    }
    await failpoint('dispatch.afterKeep', runId);
    return true;
  }
}

const cancelReadings = {
  not_sent: 'The cancellation could not be sent.',
  too_late: 'The provider answered that the run can no longer be cancelled.',
  unknown: 'The provider did not confirm the cancellation.',
} as const;

const submitAsked = ({ runId, model, upstream, streams }: SubmittedRun, row: RowOfReplies): Asked => ({
  phase: 'submit',
  run: { runId, model, upstream, streams },
  ...row,
});

/** Marks an output that is the stored reply itself, so that it is not stored again. */
function keptOutput(runId: string, read: ReadReply, { body }: HttpReply): ReadReply {
  const { outcome } = read;
  if (outcome.kind !== 'succeeded' || outcome.output.body !== body) return read;
  return { ...read, outcome: { ...outcome, output: { ...outcome.output, keptAs: runKeys.reply(runId) } } };
}
