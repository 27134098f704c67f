import { failpoint } from '#observability';
import {
  type Asked,
  type BoundProvider,
  bindProviders,
  declaredProvider,
  type HttpReply,
  type ReadReply,
  readReply,
} from '#providers';
import { move, transferableSymbol, valueSymbol } from 'piscina';

/** A reply to read, and the call that it answers. Its bytes are moved to the thread and back, not copied. */
export type ReadingOrder = Asked & { provider: ProviderMark; reply: HttpReply };

/** The facts from which the thread creates the adapter. A declared provider comes with its declaration. */
export type ProviderMark = Pick<BoundProvider, 'name' | 'base' | 'declaration'>;

/** `read` is null for an unknown provider. If the output is the reply itself, its body is left out. */
export interface Reading {
  read: ReadReply | null;
  isReply: boolean;
  bytes: Uint8Array;
}

let providers: ReadonlyMap<string, BoundProvider> | undefined;
/** The latest version of each declared provider. */
const declared = new Map<string, ProviderMark & { adapter: BoundProvider['adapter'] }>();

export async function read(order: ReadingOrder): Promise<unknown> {
  await failpoint('reply.read');
  const { body: bytes } = order.reply;
  const adapter = adapterOf(order.provider);
  const reading = adapter ? readReply(adapter, order, order.reply) : null;
  const outcome = reading?.outcome;
  const isReply = outcome?.kind === 'succeeded' && outcome.output.body === bytes;
  if (isReply) outcome.output.body = new Uint8Array();
  return move({
    [transferableSymbol]: [bytes.buffer],
    [valueSymbol]: { read: reading, isReply, bytes } satisfies Reading,
  });
}

function adapterOf({ name, base, declaration }: ProviderMark): BoundProvider['adapter'] | undefined {
  if (declaration === undefined) {
    providers ??= bindProviders(process.env).providers;
    return providers.get(name)?.adapter;
  }
  const known = declared.get(name);
  if (known?.declaration === declaration && known.base === base) return known.adapter;
  const adapter = declaredProvider(JSON.parse(declaration)).definition?.create(base, {});
  if (adapter) declared.set(name, { name, base, declaration, adapter });
  return adapter;
}
