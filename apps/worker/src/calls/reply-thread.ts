import {
  type BoundProvider,
  bindProviders,
  type Handle,
  type HttpReply,
  type Outcome,
  type Run,
} from '#providers';
import { move, transferableSymbol, valueSymbol } from 'piscina';

/** A reply to read, and what it answers. Its bytes move to the thread and back, they are not copied. */
export type ReadingOrder = { provider: string; reply: HttpReply } & (
  { phase: 'submit'; run: Run } | { phase: 'resume'; handle: Handle }
);

/** `outcome` is null for a provider that this thread does not know. Where its output is the reply, its body is left out. */
export interface Reading {
  outcome: Outcome | null;
  isReply: boolean;
  bytes: Uint8Array;
}

let providers: ReadonlyMap<string, BoundProvider> | undefined;

export function read(order: ReadingOrder): unknown {
  providers ??= bindProviders(process.env).providers;
  const { body: bytes } = order.reply;
  const adapter = providers.get(order.provider)?.adapter;
  const outcome = adapter ? outcomeOf(adapter, order) : null;
  const isReply = outcome?.kind === 'succeeded' && outcome.output.body === bytes;
  if (isReply) outcome.output.body = new Uint8Array();
  return move({
    [transferableSymbol]: [bytes.buffer],
    [valueSymbol]: { outcome, isReply, bytes } satisfies Reading,
  });
}

function outcomeOf(adapter: BoundProvider['adapter'], order: ReadingOrder): Outcome | null {
  if (order.phase === 'submit') return adapter.onSubmit(order.run, order.reply);
  return adapter.onResume?.(order.handle, order.reply) ?? null;
}
