import type { BoundProvider, Fault, HttpCall, Signal, TokenExchange } from '#providers';

type Exchanged = { token: string } | Fault;
type Named = Pick<BoundProvider, 'name'>;
type Send = (call: HttpCall) => Promise<Signal>;

/** A token is renewed this long before it expires, so that it does not expire in flight. */
const marginMs = 60_000;

/**
 * Caches the short-lived tokens of keys whose secret is not itself the credential. Concurrent calls with a key share
 * one exchange.
 */
export class Tokens {
  private readonly kept = new Map<string, { token: string; untilMs: number }>();
  private readonly exchanges = new Map<string, Promise<Exchanged>>();

  constructor(private readonly now: () => number = Date.now) {}

  /** The cached token, or a new one for the provider's secret. */
  async of(provider: Named, exchange: TokenExchange, secret: string, send: Send): Promise<Exchanged> {
    const of = cacheKey(provider, secret);
    const kept = this.kept.get(of);
    if (kept && kept.untilMs > this.now()) return { token: kept.token };
    const exchanged = this.exchanges.get(of) ?? this.exchange(of, exchange, secret, send);
    this.exchanges.set(of, exchanged);
    return exchanged.finally(() => this.exchanges.delete(of));
  }

  /** Drops a token that the provider rejected, unless it was renewed meanwhile. */
  forget(provider: Named, secret: string, token: string): void {
    const of = cacheKey(provider, secret);
    if (this.kept.get(of)?.token === token) this.kept.delete(of);
  }

  private async exchange(
    of: string,
    exchange: TokenExchange,
    secret: string,
    send: Send,
  ): Promise<Exchanged> {
    let call: HttpCall;
    try {
      call = exchange.call(secret, this.now());
    } catch {
      // The error is dropped, because its message might quote the secret.
      return refused;
    }
    const sentAtMs = this.now();
    const reply = await send(call);
    if ('fault' in reply || reply.status === 429 || reply.status >= 500) return notNow;
    const read = reply.status === 200 ? exchange.read(reply) : undefined;
    if (!read) return refused;
    for (const [key, { untilMs }] of this.kept) if (untilMs <= sentAtMs) this.kept.delete(key);
    this.kept.set(of, { token: read.token, untilMs: sentAtMs + Math.max(0, read.lifeMs - marginMs) });
    return { token: read.token };
  }
}

const cacheKey = ({ name }: Named, secret: string): string => `${name} ${secret}`;

const notNow: Fault = { fault: 'not_sent', cause: 'no_token' };
const refused: Fault = { fault: 'not_sent', cause: 'token_refused' };
