import { randomUUID } from 'node:crypto';
import type { Metrics } from '#observability';
import { type BoundProvider, credentialHeaders, type HttpCall, type Signal } from '#providers';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { guardedLookup, isPublicAddress, RefusedAddress, refusalOf } from './address-guard.js';
import { faultOf, NotConnected } from './fault.js';
import { Tokens } from './tokens.js';

type Operation = 'submit' | 'resume' | 'cancel';

/** Longest exchange of a secret for a token. */
const tokenMs = 10_000;

interface PartnerClientOptions {
  PROVIDER_CONNECT_MS: number;
  PROVIDER_REPLY_LIMIT: number;
  ASSET_ALLOWED_ORIGINS: string[];
}

/**
 * Makes one call to a partner and turns whatever happens into a `Signal`; it never throws. A URL on the
 * provider's configured origin is the operator's word; any other came out of a reply and is guarded.
 * Redirects are not followed: no partner's protocol needs one.
 */
export class PartnerClient {
  private readonly trusted: Dispatcher;
  private readonly guarded: Dispatcher;
  private readonly tokens = new Tokens();

  constructor(
    private readonly options: PartnerClientOptions,
    private readonly metrics: Metrics,
  ) {
    const timeout = options.PROVIDER_CONNECT_MS;
    this.trusted = new Agent({ connect: telling(buildConnector({ timeout })) });
    this.guarded = new Agent({ connect: telling(guardedConnector(timeout)) });
  }

  async call(
    provider: BoundProvider,
    operation: Operation,
    call: HttpCall,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Signal> {
    const startedAt = performance.now();
    const reply = await this.authenticated(provider, call, timeoutMs, signal);
    this.metrics.providerSeconds.observe(
      {
        provider: provider.name,
        op: operation,
        result: 'fault' in reply ? reply.fault : `${Math.floor(reply.status / 100)}xx`,
      },
      (performance.now() - startedAt) / 1000,
    );
    return reply;
  }

  async close(): Promise<void> {
    await Promise.all([this.trusted.destroy(), this.guarded.destroy()]);
  }

  /** With a token in the place of the secret where the partner wants one, and once more when it has just expired. */
  private async authenticated(
    provider: BoundProvider,
    call: HttpCall,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Signal> {
    const { secret, adapter } = provider;
    const { exchange } = adapter;
    const send = (credential: string | undefined) =>
      this.send(provider, call, credential, this.isNamed(provider, call.url), timeoutMs, signal);
    if (!exchange || secret === undefined) return send(secret);
    const token = () =>
      this.tokens.of(provider, exchange, secret, (tokenCall) =>
        this.send(provider, tokenCall, undefined, true, tokenMs, undefined),
      );
    const first = await token();
    if ('fault' in first) return first;
    const reply = await send(first.token);
    if ('fault' in reply || reply.status !== 401 || !this.tokens.forget(provider, first.token)) return reply;
    const second = await token();
    return 'fault' in second ? second : send(second.token);
  }

  /** Whether the URL is on an origin that the operator named; any other came out of a reply. */
  private isNamed(provider: BoundProvider, url: string): boolean {
    const { origin } = new URL(url);
    return origin === new URL(provider.base).origin || this.options.ASSET_ALLOWED_ORIGINS.includes(origin);
  }

  private async send(
    provider: BoundProvider,
    call: HttpCall,
    secret: string | undefined,
    named: boolean,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Signal> {
    const url = new URL(call.url);
    if (!named && refusalOf(url, []) !== null) return { fault: 'not_sent', cause: 'refused_address' };
    const bound = AbortSignal.timeout(timeoutMs);
    try {
      const { statusCode, headers, body } = await request(url, {
        method: call.method,
        headers: {
          ...call.headers,
          ...(call.uniqueHeader && { [call.uniqueHeader]: randomUUID() }),
          ...credentialHeaders(provider.adapter, call, secret, Date.now()),
        },
        body: call.body ?? null,
        dispatcher: named ? this.trusted : this.guarded,
        signal: signal ? AbortSignal.any([bound, signal]) : bound,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of body as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > this.options.PROVIDER_REPLY_LIMIT) {
          body.destroy();
          return { fault: 'oversize' };
        }
        chunks.push(chunk);
      }
      return { status: statusCode, headers: flatten(headers), body: Buffer.concat(chunks) };
    } catch (error) {
      return bound.aborted ? { fault: 'ambiguous', cause: 'timeout' } : faultOf(error);
    }
  }
}

/** Marks what fails while connecting: the same codes may come from a connection that stood. */
function telling(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) =>
      error ? callback(new NotConnected(error), null) : callback(null, socket),
    );
}

function guardedConnector(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout, lookup: guardedLookup });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const address = socket?.remoteAddress ?? '';
      if (isPublicAddress(address)) return callback(null, socket);
      socket?.destroy();
      return callback(new RefusedAddress(address), null);
    });
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
