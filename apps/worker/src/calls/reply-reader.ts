import {
  type Asked,
  type BoundProvider,
  type HttpReply,
  type ReadReply,
  readReply,
  type Signal,
} from '#providers';
import { Piscina } from 'piscina';
import type { ProviderMark, Reading, ReadingOrder } from './reply-thread.js';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';

/** Above this, reading a reply would hold up everything else: seven mebibytes of JSON take a quarter of a second. */
const inlineBytes = 1024 * 1024;
/** The reply's turn in the thread included. */
const readMs = 15_000;

/** Lets adapters read replies. They are pure, so a large reply is read in a thread beside the event loop. */
@Injectable()
export class ReplyReader implements OnApplicationShutdown {
  private threads: Piscina<ReadingOrder, Reading> | undefined;

  async read(provider: BoundProvider, signal: Signal, asked: Asked): Promise<ReadReply> {
    const read = isLarge(signal)
      ? await this.beside({ ...asked, provider: markOf(provider), reply: signal })
      : null;
    return signed(provider, read ?? readReply(provider.adapter, asked, signal));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.threads?.destroy();
  }

  /** Null for a provider that the thread does not know; the reply has its bytes again then. */
  private async beside(order: ReadingOrder): Promise<ReadReply | null> {
    this.threads ??= new Piscina({
      filename: new URL('./reply-thread.js', import.meta.url).href,
      name: 'read',
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: 10_000,
    });
    try {
      const { read, isReply, bytes } = await this.threads.run(order, {
        transferList: [order.reply.body.buffer as ArrayBuffer],
        signal: AbortSignal.timeout(readMs),
      });
      order.reply.body = bytes;
      return isReply && read?.outcome.kind === 'succeeded'
        ? { ...read, outcome: { ...read.outcome, output: { ...read.outcome.output, body: bytes } } }
        : read;
    } catch (error) {
      // A poll may be repeated, a submission may not.
      const retry = order.phase === 'resume' ? 'same_call' : 'never';
      const note = `a large reply could not be read: ${String(error)}`;
      return { outcome: { kind: 'failed', failure: { class: 'unreadable', retry, note } } };
    }
  }
}

/** An adapter has functions, which do not travel. */
const markOf = ({ name, base, declaration }: BoundProvider): ProviderMark => ({
  name,
  base,
  ...(declaration !== undefined && { declaration }),
});

const isLarge = (signal: Signal): signal is HttpReply =>
  'status' in signal && signal.body.byteLength > inlineBytes;

/** The outcome, with the links to our own storage signed where the provider writes there. */
function signed({ adapter, secret }: BoundProvider, read: ReadReply): ReadReply {
  const { outcome } = read;
  if (outcome.kind !== 'succeeded' || secret === undefined || !adapter.sign) return read;
  return { ...read, outcome: { ...outcome, output: adapter.sign(outcome.output, secret, Date.now()) } };
}
