import type { BoundProvider, Fault, HttpCall, Signal, TokenExchange } from '#providers';

type Exchanged = { token: string } | Fault;
type Send = (call: HttpCall) => Promise<Signal>;

/** A token is renewed this long before it expires, so that it does not expire in flight. */
const marginMs = 60_000;

/**
 * Caches the short-lived tokens of providers whose secret is not itself the credential. Concurrent calls to a
 * provider share one exchange.
 */
export class Tokens {
  private readonly kept = new Map<string, { token: string; untilMs: number }>();
  private readonly exchanges = new Map<string, Promise<Exchanged>>();

  constructor(private readonly now: () => number = Date.now) {}

  /** The cached token, or a new one for the provider's secret. */
  async of(provider: BoundProvider, exchange: TokenExchange, secret: string, send: Send): Promise<Exchanged> {
    const kept = this.kept.get(provider.name);
    if (kept && kept.untilMs > this.now()) return { token: kept.token };
    const exchanged =
      this.exchanges.get(provider.name) ?? this.exchange(provider.name, exchange, secret, send);
    this.exchanges.set(provider.name, exchanged);
    return exchanged.finally(() => this.exchanges.delete(provider.name));
  }

  /** Drops a token that the provider rejected, unless it was renewed meanwhile. */
  forget(provider: BoundProvider, token: string): void {
    if (this.kept.get(provider.name)?.token === token) this.kept.delete(provider.name);
  }

  private async exchange(
    name: string,
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
    this.kept.set(name, { token: read.token, untilMs: sentAtMs + Math.max(0, read.lifeMs - marginMs) });
    return { token: read.token };
  }
}

const notNow: Fault = { fault: 'not_sent', cause: 'no_token' };
const refused: Fault = { fault: 'not_sent', cause: 'token_refused' };
