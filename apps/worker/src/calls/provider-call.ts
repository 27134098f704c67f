import { type Span, TRACING, type Tracing } from '#observability';
import type { BoundProvider, Handle, HttpCall, ReadReply, Run } from '#providers';
import type { ReportedTerm } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import type { Share } from '../bytes/byte-budget.js';
import { InputFiles } from '../files/input-files.js';
import { Payloads } from '../bytes/payloads.js';
import { type PartnerCall, PartnerClient } from './partner-client.js';
import { ReplyReader } from './reply-reader.js';

type Terms = Pick<PartnerCall, 'workspaceId' | 'call' | 'timeoutMs' | 'share'> & {
  reported: readonly ReportedTerm[];
};

/** One call to a provider from the adapter's request to the adapter's reading of the reply, within the byte budget and traced. */
@Injectable()
export class ProviderCall {
  constructor(
    private readonly client: PartnerClient,
    private readonly replies: ReplyReader,
    private readonly payloads: Payloads,
    private readonly files: InputFiles,
    @Inject(TRACING) private readonly tracing: Tracing,
  ) {}

  /** Work whose bodies count against the byte budget. */
  withShare<T>(work: (share: Share) => Promise<T>): Promise<T> {
    return this.payloads.withShare(work);
  }

  /** The caller's bytes, which count against `share`. Rejects with `StorageError`. */
  readInput(...read: Parameters<Payloads['read']>): Promise<Uint8Array> {
    return this.payloads.read(...read);
  }

  /** The run with the files that its input names, for the submission. */
  withFiles(...prepare: Parameters<InputFiles['prepare']>): ReturnType<InputFiles['prepare']> {
    return this.files.prepare(...prepare);
  }

  /** Work under a span of the caller's trace; without a trace it costs nothing. */
  async traced<T>(span: Parameters<Tracing['start']>[0], work: (span: Span) => Promise<T>): Promise<T> {
    const started = this.tracing.start(span);
    return work(started).finally(() => started.end());
  }

  /** `onReply` runs between the reply's arrival and its reading. */
  async submit(
    provider: BoundProvider,
    run: Run,
    terms: Terms & { parent: Span; onReply: () => Promise<void> },
  ): Promise<ReadReply> {
    const { parent, onReply, reported, ...call } = terms;
    // The context ends here: a partner learns nothing of our callers' traces.
    const span = this.tracing.start({ name: 'submit', kind: 'client', parent: parent.traceparent });
    const reply = await this.client.call(provider, { ...call, runId: run.runId, operation: 'submit' });
    span.end('fault' in reply ? reply.fault : undefined);
    await onReply();
    return this.replies.read(provider, reply, { phase: 'submit', run, reported });
  }

  /** Polls or fetches. Null when the signal aborted: what arrived belongs to whoever polls next. */
  async resume(
    provider: BoundProvider,
    runId: string,
    handle: Handle,
    terms: Omit<Terms, 'call'> & { signal: AbortSignal; onReply: () => Promise<void> },
  ): Promise<ReadReply | null> {
    const { onReply, reported, ...rest } = terms;
    const call = provider.adapter.resume?.(handle);
    if (!call) throw new Error(`${provider.name} has nothing to poll`);
    const reply = await this.client.call(provider, { ...rest, call, runId, operation: 'resume' });
    await onReply();
    return terms.signal.aborted
      ? null
      : this.replies.read(provider, reply, { phase: 'resume', handle, reported });
  }

  /**
   * One try: the partner's answer on it shows in the next poll, and an answer is no promise. Null when provably nothing
   * reached the partner, or when the signal aborted: whoever polls next tries again.
   */
  async cancel(
    provider: BoundProvider,
    runId: string,
    handle: Handle,
    terms: { workspaceId: string; call: HttpCall; timeoutMs: number; signal: AbortSignal },
  ): Promise<'requested' | 'too_late' | 'unknown' | null> {
    const reply = await this.withShare((share) =>
      this.client.call(provider, { ...terms, share, runId, operation: 'cancel' }),
    );
    if (terms.signal.aborted || ('fault' in reply && reply.fault === 'not_sent')) return null;
    return provider.adapter.onCancel?.(handle, reply) ?? 'unknown';
  }
}
