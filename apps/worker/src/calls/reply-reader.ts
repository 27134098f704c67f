import type { BoundProvider, Handle, HttpReply, Outcome, Run, Signal } from '#providers';
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

  async submitted(provider: BoundProvider, run: Run, signal: Signal): Promise<Outcome> {
    const outcome = isLarge(signal)
      ? await this.beside({ phase: 'submit', provider: markOf(provider), run, reply: signal })
      : null;
    return signed(provider, outcome ?? provider.adapter.onSubmit(run, signal));
  }

  async resumed(provider: BoundProvider, handle: Handle, signal: Signal): Promise<Outcome> {
    const outcome = isLarge(signal)
      ? await this.beside({ phase: 'resume', provider: markOf(provider), handle, reply: signal })
      : null;
    return signed(provider, outcome ?? resume(provider, handle, signal));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.threads?.destroy();
  }

  /** Null for a provider that the thread does not know; the reply has its bytes again then. */
  private async beside(order: ReadingOrder): Promise<Outcome | null> {
    this.threads ??= new Piscina({
      filename: new URL('./reply-thread.js', import.meta.url).href,
      name: 'read',
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: 10_000,
    });
    try {
      const { outcome, isReply, bytes } = await this.threads.run(order, {
        transferList: [order.reply.body.buffer as ArrayBuffer],
        signal: AbortSignal.timeout(readMs),
      });
      order.reply.body = bytes;
      return isReply && outcome?.kind === 'succeeded'
        ? { ...outcome, output: { ...outcome.output, body: bytes } }
        : outcome;
    } catch (error) {
      // A poll may be repeated, a submission may not.
      const retry = order.phase === 'resume' ? 'same_call' : 'never';
      const note = `a large reply could not be read: ${String(error)}`;
      return { kind: 'failed', failure: { class: 'unreadable', retry, note } };
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

function resume({ name, adapter }: BoundProvider, handle: Handle, signal: Signal): Outcome {
  if (!adapter.onResume) throw new Error(`${name} has nothing to poll`);
  return adapter.onResume(handle, signal);
}

/** The outcome, with the links to our own storage signed where the provider writes there. */
function signed({ adapter, secret }: BoundProvider, outcome: Outcome): Outcome {
  if (outcome.kind !== 'succeeded' || secret === undefined || !adapter.sign) return outcome;
  return { ...outcome, output: adapter.sign(outcome.output, secret, Date.now()) };
}
