import type { BoundProvider, Fault, HttpCall, Signal, TokenExchange } from '#providers';

type Exchanged = { token: string } | Fault;
type Send = (call: HttpCall) => Promise<Signal>;

/** A token is renewed while it still has this long to live, so that none dies on its way. */
const marginMs = 60_000;

/** The short-lived tokens of providers whose secret is not itself the credential; one exchange at a time each. */
export class Tokens {
  private readonly kept = new Map<string, { token: string; untilMs: number }>();
  private readonly asked = new Map<string, Promise<Exchanged>>();

  constructor(private readonly now: () => number = Date.now) {}

  /** The kept token, or a new one for the provider's secret. */
  async of(provider: BoundProvider, exchange: TokenExchange, secret: string, send: Send): Promise<Exchanged> {
    const kept = this.kept.get(provider.name);
    if (kept && kept.untilMs > this.now()) return { token: kept.token };
    const asked = this.asked.get(provider.name) ?? this.exchange(provider.name, exchange, secret, send);
    this.asked.set(provider.name, asked);
    return asked.finally(() => this.asked.delete(provider.name));
  }

  /** A provider that refused the token must not be shown it again. */
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
      // The error is not repeated: its message might quote the secret.
      return refused;
    }
    const askedAtMs = this.now();
    const reply = await send(call);
    if ('fault' in reply || reply.status === 429 || reply.status >= 500) return notNow;
    const read = reply.status === 200 ? exchange.read(reply) : undefined;
    if (!read) return refused;
    this.kept.set(name, { token: read.token, untilMs: askedAtMs + Math.max(0, read.lifeMs - marginMs) });
    return { token: read.token };
  }
}

const notNow: Fault = { fault: 'not_sent', cause: 'no_token' };
const refused: Fault = { fault: 'not_sent', cause: 'token_refused' };
