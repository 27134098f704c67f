import { type Log, LOG, Turns, withTimeout } from '#observability';
import {
  type Asked,
  type BoundProvider,
  type HttpReply,
  isResult,
  type ReadReply,
  readReply,
  type Signal,
} from '#providers';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Piscina } from 'piscina';
import type { ProviderMark, Reading, ReadingOrder } from './reply-thread.js';

/** Above this, reading a reply would hold up everything else: seven mebibytes of JSON take a quarter of a second. */
const inlineBytes = 1024 * 1024;
/** For the reading alone, the first time; each further one may take twice as long. */
const firstReadMs = 30_000;
/** Readings of one reply after which it counts as unreadable, or as the result that its status says it is. */
const maxReadings = 5;
/** How long a reply that can be read later waits for the thread. */
const maxTurnMs = 10_000;

/** A large reply that is not read yet: the thread is busy, it took too long over the reply, or the store lacks it. */
export type Unread = 'busy' | 'late' | 'gone';

interface ReadTerms {
  runId: string;
  /** How often reading the reply took too long. */
  readings: number;
  /** Whether the store has it: then its bytes move to the thread, and may be lost there. */
  isKept?: boolean;
}

/** Lets adapters read replies. They are pure, so a large reply is read in a thread beside the event loop. */
@Injectable()
export class ReplyReader implements OnApplicationShutdown {
  private threads: Piscina<ReadingOrder, Reading> | undefined;
  private readonly turns = new Turns({ max: 1 });

  constructor(@Inject(LOG) private readonly log: Log) {}

  /** Only a large reply is ever unread, which says nothing about it: it is read again later. */
  async read(
    provider: BoundProvider,
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
      this.log.warn({ error, run_id: runId, unread, readings }, 'a large reply was not read, trying again');
      return unread;
    }
  }

  /** Reads a reply that is nowhere else, however long the thread is busy. */
  async readNow(provider: BoundProvider, signal: Signal, asked: Asked, runId: string): Promise<ReadReply> {
    for (let readings = 0; ;) {
      const read = await this.read(provider, signal, asked, { runId, readings });
      if (!isUnread(read)) return read;
      if (read === 'late') readings += 1;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.threads?.destroy();
  }

  /** Null for a provider that the thread does not know; the reply has its bytes again then. */
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

  /** A success of a call that answers with the result is one, whatever it holds: it is paid. */
  private unreadable(provider: BoundProvider, reply: HttpReply, asked: Asked): ReadReply {
    const note = `a large reply could not be read in ${maxReadings} attempts`;
    this.log.error({ provider: provider.name }, note);
    if (!isResult(provider.adapter, asked, reply))
      return { outcome: { kind: 'failed', failure: { class: 'unreadable', retry: 'never', note } } };
    const mediaType = reply.headers['content-type'] ?? 'application/octet-stream';
    return { outcome: { kind: 'succeeded', output: { mediaType, body: reply.body } } };
  }
}

/** An adapter has functions, which do not travel. */
const markOf = ({ name, base, declaration }: BoundProvider): ProviderMark => ({
  name,
  base,
  ...(declaration !== undefined && { declaration }),
});

/** Whether reading it takes long. */
export const isLarge = (signal: Signal): signal is HttpReply =>
  'status' in signal && signal.body.byteLength > inlineBytes;

export const isUnread = (read: ReadReply | Unread): read is Unread => typeof read === 'string';

/** The outcome, with the links to our own storage signed where the provider writes there. */
function signed({ adapter, secret }: BoundProvider, runId: string, read: ReadReply): ReadReply {
  const { outcome } = read;
  if (outcome.kind !== 'succeeded' || secret === undefined || !adapter.sign) return read;
  const output = adapter.sign(outcome.output, runId, secret, Date.now());
  return { ...read, outcome: { ...outcome, output } };
}
