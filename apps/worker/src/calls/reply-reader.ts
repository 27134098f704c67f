import { type Log, LOG, Turns, withTimeout } from '#observability';
import {
  type Asked,
  type KeyedProvider,
  type HttpReply,
  isResult,
  type ReadReply,
  readReply,
  type Signal,
} from '#providers';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Piscina } from 'piscina';
import type { ProviderMark, Reading, ReadingOrder } from './reply-thread.js';

/** Larger replies would block the event loop: 7 MiB of JSON take a quarter of a second. */
const inlineBytes = 1024 * 1024;
/** Time limit of the first attempt to read a reply, once it has the thread. It doubles with each attempt. */
const firstReadMs = 30_000;
/** After this many attempts a reply counts as unreadable, or as the result if its status says so. */
const maxReadings = 5;
/** How long a reply waits for the thread before it is left for later. */
const maxTurnMs = 10_000;

/** Why a large reply is unread: the thread is busy, reading took too long, or the store does not have it. */
export type Unread = 'busy' | 'late' | 'gone';

interface ReadTerms {
  runId: string;
  /** How many attempts to read the reply took too long. */
  readings: number;
  /** Whether the reply is stored. If so, its bytes are moved to the thread and may be lost there. */
  isKept?: boolean;
}

/** Lets adapters read replies. Adapters are pure, so a thread can read large replies, off the event loop. */
@Injectable()
export class ReplyReader implements OnApplicationShutdown {
  private threads: Piscina<ReadingOrder, Reading> | undefined;
  private readonly turns = new Turns({ max: 1 });

  constructor(@Inject(LOG) private readonly log: Log) {}

  /** Only a large reply can be left unread. That says nothing about its content; it is read again later. */
  async read(
    provider: KeyedProvider,
    signal: Signal,
    asked: Asked,
    { runId, readings, isKept = false }: ReadTerms,
  ): Promise<ReadReply | Unread> {
    if (!isLarge(signal)) return signed(provider, runId, readReply(provider.adapter, asked, signal));
    if (readings >= maxReadings) return this.unreadable(provider, signal, asked);
    const order = { ...asked, provider: markOf(provider), reply: signal };
    let unread: Unread = 'busy';
    const readInTurn = async () => {
      unread = 'late';
      const read = await this.beside(order, firstReadMs * 2 ** readings, isKept);
      return signed(provider, runId, read ?? readReply(provider.adapter, asked, signal));
    };
    try {
      return await withTimeout(maxTurnMs, undefined, (waiting) => this.turns.take('', readInTurn, waiting));
    } catch (error) {
      this.log.warn({ error, run_id: runId, unread, readings }, 'could not read a large reply, retrying');
      return unread;
    }
  }

  /** Reads a reply that is not stored anywhere else, however long the thread is busy. */
  async readNow(provider: KeyedProvider, signal: Signal, asked: Asked, runId: string): Promise<ReadReply> {
    for (let readings = 0; ;) {
      const read = await this.read(provider, signal, asked, { runId, readings });
      if (!isUnread(read)) return read;
      if (read === 'late') readings += 1;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.threads?.destroy();
  }

  /**
   * Reads in the thread. Null, with the bytes back in the reply, for a provider that the thread does not
   * know.
   */
  private async beside(order: ReadingOrder, limitMs: number, moves: boolean): Promise<ReadReply | null> {
    this.threads ??= new Piscina({
      filename: new URL('./reply-thread.js', import.meta.url).href,
      name: 'read',
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: 10_000,
    });
    const { reply } = order;
    const { read, isReply, bytes } = await this.threads.run(order, {
      transferList: moves ? [reply.body.buffer as ArrayBuffer] : [],
      signal: AbortSignal.timeout(limitMs),
    });
    if (moves) reply.body = bytes;
    return isReply && read?.outcome.kind === 'succeeded'
      ? { ...read, outcome: { ...read.outcome, output: { ...read.outcome.output, body: reply.body } } }
      : read;
  }

  /** An unreadable reply counts as the result if its status says that it is one, because it is paid for. */
  private unreadable(provider: KeyedProvider, reply: HttpReply, asked: Asked): ReadReply {
    const note = `could not read a large reply in ${maxReadings} attempts`;
    this.log.error({ provider: provider.name }, note);
    if (!isResult(provider.adapter, asked, reply))
      return { outcome: { kind: 'failed', failure: { class: 'unreadable', retry: 'never', note } } };
    const mediaType = reply.headers['content-type'] ?? 'application/octet-stream';
    return { outcome: { kind: 'succeeded', output: { mediaType, body: reply.passedOn ?? reply.body } } };
  }
}

/** The facts that identify a provider to the thread. Adapters have functions, which cannot be sent to it. */
const markOf = ({ name, base, declaration }: KeyedProvider): ProviderMark => ({
  name,
  base,
  ...(declaration !== undefined && { declaration }),
});

/** Whether the reply is too large to read on the event loop. */
export const isLarge = (signal: Signal): signal is HttpReply =>
  'status' in signal && signal.body.byteLength > inlineBytes;

export const isUnread = (read: ReadReply | Unread): read is Unread => typeof read === 'string';

/** Signs links to the operator's own storage, for providers that write their outputs there. */
function signed({ adapter, key }: KeyedProvider, runId: string, read: ReadReply): ReadReply {
  const { outcome } = read;
  if (outcome.kind !== 'succeeded' || key === undefined || !adapter.sign) return read;
  const output = adapter.sign(outcome.output, runId, key.secret, Date.now());
  return { ...read, outcome: { ...outcome, output } };
}
