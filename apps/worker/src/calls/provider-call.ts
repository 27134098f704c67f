import { type Span, TRACING, type Tracing } from '#observability';
import {
  type BoundProvider,
  type Handle,
  type HttpCall,
  type HttpReply,
  isSuccess,
  type ReadReply,
  type RowOfReplies,
  type SubmittedRun,
} from '#providers';
import { runKeys } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import type { Share } from '../bytes/byte-budget.js';
import { InputFiles } from './input-files.js';
import { Payloads } from '../bytes/payloads.js';
import { type OutboundCall, ProviderClient } from './provider-client.js';
import { isLarge, isUnread, ReplyReader, type Unread } from './reply-reader.js';

type Terms = Pick<OutboundCall, 'workspaceId' | 'call' | 'timeoutMs' | 'share'> & RowOfReplies;

/** One call to a provider from the adapter's request to the adapter's reading of the reply, within the byte budget and traced. */
@Injectable()
export class ProviderCall {
  constructor(
    private readonly client: ProviderClient,
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

  /**
   * `onReply` runs between the reply's arrival and its reading. A large success is paid and takes long to read: `keep`
   * stores it before, and says whether it did. Null for one that is stored and to be read later.
   */
  async submit(
    provider: BoundProvider,
    { runId, model, upstream }: SubmittedRun,
    terms: Terms & {
      parent: Span;
      onReply: () => Promise<void>;
      keep: (reply: HttpReply) => Promise<boolean>;
    },
  ): Promise<(ReadReply & { isKept: boolean }) | null> {
    const { parent, onReply, keep, reported, assets, ...call } = terms;
    // The context ends here: a provider learns nothing of our callers' traces.
    const span = this.tracing.start({ name: 'submit', kind: 'client', parent: parent.traceparent });
    const reply = await this.client.call(provider, { ...call, runId, operation: 'submit' });
    span.end('fault' in reply ? reply.fault : undefined);
    await onReply();
    const asked = { phase: 'submit', run: { runId, model, upstream }, reported, assets } as const;
    if (!isLarge(reply) || !isSuccess(reply) || !(await keep(reply)))
      return { ...(await this.replies.readNow(provider, reply, asked, { runId })), isKept: false };
    const read = await this.replies.read(provider, reply, asked, { runId, readings: 0, isKept: true });
    return isUnread(read) ? null : { ...keptOutput(runId, read, reply), isKept: true };
  }

  /** Reads a reply to a submission that was stored. */
  async readKept(
    provider: BoundProvider,
    { runId, model, upstream }: SubmittedRun,
    reply: Omit<HttpReply, 'body'>,
    terms: RowOfReplies & { readings: number; share: Share; signal: AbortSignal },
  ): Promise<ReadReply | Unread> {
    const { readings, reported, assets, share, signal } = terms;
    const body = await this.payloads.read({ storedAs: runKeys.reply(runId) }, share, signal);
    const asked = { phase: 'submit', run: { runId, model, upstream }, reported, assets } as const;
    const stored = { ...reply, body };
    const read = await this.replies.read(provider, stored, asked, { runId, readings, isKept: true });
    return isUnread(read) ? read : keptOutput(runId, read, stored);
  }

  /**
   * Polls or fetches. Null when the signal aborted: what arrived belongs to whoever polls next. `readings` are those of
   * earlier replies that took too long.
   */
  async resume(
    provider: BoundProvider,
    runId: string,
    handle: Handle,
    terms: Omit<Terms, 'call'> & { readings: number; signal: AbortSignal; onReply: () => Promise<void> },
  ): Promise<ReadReply | Unread | null> {
    const { onReply, readings, reported, assets, ...rest } = terms;
    const call = provider.adapter.resume?.(handle);
    if (!call) throw new Error(`${provider.name} has nothing to poll`);
    const reply = await this.client.call(provider, { ...rest, call, runId, operation: 'resume' });
    await onReply();
    if (terms.signal.aborted) return null;
    const asked = { phase: 'resume', handle, reported, assets } as const;
    return this.replies.read(provider, reply, asked, { runId, readings });
  }

  /**
   * One try: the provider's answer on it shows in the next poll, and an answer is no promise. Null when provably nothing
   * reached the provider, or when the signal aborted: whoever polls next tries again.
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

/** An output that is the stored reply itself is not stored once more. */
function keptOutput(runId: string, read: ReadReply, { body }: HttpReply): ReadReply {
  const { outcome } = read;
  if (outcome.kind !== 'succeeded' || outcome.output.body !== body) return read;
  return { ...read, outcome: { ...outcome, output: { ...outcome.output, keptAs: runKeys.reply(runId) } } };
}
