import { randomUUID } from 'node:crypto';
import { SETTINGS } from '#infrastructure';
import { Metrics, withTimeout } from '#observability';
import { type HttpCall, type HttpReply, isPool, type KeyedProvider, type Signal } from '#providers';
import { essenceOf, isJsonType } from '#schemas';
import { maxRowBytes, runKeys, StorageError } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { type Duplex, pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { Payloads, type Share } from '../bytes/payloads.js';
import type { WorkerSettings } from '../settings.js';
import { CarriedSecrets } from './carried-secrets.js';
import { collectEvents, type PassOn } from './event-stream.js';
import { faultOf, NotConnected } from './fault.js';
import { OutboundAgents } from './outbound-agents.js';
import { Tokens } from './tokens.js';

/** Time limit for the exchange of a secret for a token. */
const tokenMs = 10_000;

export interface OutboundCall {
  runId: string;
  /** The workspace on whose behalf the host name of a reply's URL is resolved. */
  workspaceId: string;
  operation: 'upload' | 'submit' | 'resume' | 'cancel' | 'check';
  call: HttpCall;
  timeoutMs: number;
  /** The reply's bytes count against it. */
  share: Share;
  signal?: AbortSignal | undefined;
  /** Aborts when this worker is about to stop: what an event stream without a caller brought by then is enough. */
  closing?: AbortSignal | undefined;
  /** Takes the bytes of an event stream while they arrive. Absent if they are collected only. */
  passOn?: PassOn | undefined;
}

/**
 * Makes one call to a provider and turns whatever happens into a `Signal`; it never throws. The provider's
 * configured origin is trusted; any other URL came from a reply and goes through the guarded agent. Redirects
 * are not followed, because no provider's protocol needs them. A reply has none of the secrets that the call carried.
 */
@Injectable()
export class ProviderClient {
  private readonly tokens = new Tokens();

  constructor(
    private readonly agents: OutboundAgents,
    private readonly payloads: Payloads,
    @Inject(SETTINGS)
    private readonly settings: Pick<
      WorkerSettings,
      'PROVIDER_REPLY_LIMIT' | 'ASSET_MAX_BYTES' | 'STREAM_IDLE_MS' | 'STREAM_MAX_BYTES'
    >,
    private readonly metrics: Metrics,
  ) {}

  async callProvider(provider: KeyedProvider, outbound: OutboundCall): Promise<Signal> {
    const measured = this.metrics.providerSeconds.startTimer({
      provider: provider.name,
      op: outbound.operation,
    });
    const reply = await this.authenticated(provider, outbound);
    const result = 'fault' in reply ? reply.fault : `${Math.floor(reply.status / 100)}xx`;
    measured({ result });
    const { keys, key } = provider;
    if (isPool(keys) && keys.some((each) => each === key))
      this.metrics.keyCalls.inc({
        provider: provider.name,
        key: key?.name ?? '',
        op: outbound.operation,
        result,
      });
    return reply;
  }

  /** Sends the secret, or a token if the provider needs one. A rejected token is replaced once. */
  private async authenticated(provider: KeyedProvider, outbound: OutboundCall): Promise<Signal> {
    const { adapter } = provider;
    const secret = provider.key?.secret;
    const { exchange } = adapter;
    // Not a final failure: the operator may add the key, and another worker may have it.
    if (secret === undefined) return { fault: 'not_sent', cause: 'no_key' };
    const secrets = new CarriedSecrets(secret);
    const send = (credential: string | undefined) => this.send(provider, outbound, secrets, credential);
    if (!exchange) return send(secret);
    const token = () =>
      this.tokens.of(provider, exchange, secret, (call) =>
        this.send(
          provider,
          { ...outbound, operation: 'resume', call, timeoutMs: tokenMs, signal: undefined },
          // Nothing but the token is read from this reply, so the token stays in it.
          new CarriedSecrets(undefined),
          undefined,
          this.agents.trusted,
        ),
      );
    const first = await token();
    if ('fault' in first) return first;
    const reply = await send(first.token);
    if ('fault' in reply || reply.status !== 401) return reply;
    // If several calls are rejected with the same token, the first fetches a new one and the others use it.
    this.tokens.forget(provider, secret, first.token);
    const second = await token();
    return 'fault' in second ? second : send(second.token);
  }

  private async send(
    provider: KeyedProvider,
    outbound: OutboundCall,
    secrets: CarriedSecrets,
    secret: string | undefined,
    agent?: Dispatcher,
  ): Promise<Signal> {
    const { workspaceId, call } = outbound;
    const credential = secrets.authenticate(provider.adapter, call, secret);
    const headers = {
      'accept-encoding': 'identity',
      ...call.headers,
      ...(call.uniqueHeader && { [call.uniqueHeader]: randomUUID() }),
      ...credential.headers,
    };
    const signed = { ...outbound, call: { ...call, headers, url: credential.url } };
    // Once a stream has begun, it decides itself how it ends when its caller leaves.
    using beginning = new Beginning(outbound.signal);
    // Awaited, because the end of this block disposes of it.
    return await withTimeout(outbound.timeoutMs, beginning.signal, async (signal) => {
      try {
        const terms = { workspaceId, signal };
        const dispatcher = agent ?? (await this.agents.to(new URL(call.url), provider.base, terms));
        if (dispatcher === null) return { fault: 'not_sent', cause: 'refused_address' };
        return await this.exchange(signed, secrets, dispatcher, { signal, beginning });
      } catch (error) {
        if (error instanceof StorageError && error.failure === 'too_large') return { fault: 'oversize' };
        // A failed connection proves that nothing was sent, even if it failed because of the time limit.
        const timedOut = signal.aborted && !outbound.signal?.aborted && !(error instanceof NotConnected);
        return timedOut ? { fault: 'ambiguous', cause: 'timeout' } : faultOf(error);
      }
    });
  }

  private async exchange(
    outbound: OutboundCall,
    secrets: CarriedSecrets,
    dispatcher: Dispatcher,
    { signal, beginning }: { signal: AbortSignal; beginning: Beginning },
  ): Promise<Signal> {
    const { url, method, headers, pieces, body: whole } = outbound.call;
    const quietMs = outbound.call.stream ? this.settings.STREAM_IDLE_MS : 0;
    const streamed = pieces && this.payloads.stream(pieces, signal);
    const answer = await request(url, {
      method,
      headers: { ...headers, ...(streamed && { 'content-length': String(streamed.bytes) }) },
      body: streamed?.body ?? whole ?? null,
      dispatcher,
      signal,
      headersTimeout: quietMs,
      bodyTimeout: quietMs,
    });
    const reply = { status: answer.statusCode, headers: secrets.cleanedFields(answer.headers) };
    const body = secrets.cleaned(decoded(answer));
    if (isEventStream(outbound.call, reply)) beginning[Symbol.dispose]();
    const collecting = this.collect(reply, body, outbound, signal);
    return collecting.finally(() => {
      discardBody(body);
      discardBody(answer.body);
    });
  }

  /** Collects text and JSON in memory. Large files, which adapters do not read, are stored as they arrive. */
  private async collect(
    reply: Pick<HttpReply, 'status' | 'headers'>,
    body: Readable,
    { runId, share, operation, call, passOn, closing, signal: cancelled }: OutboundCall,
    signal: AbortSignal,
  ): Promise<HttpReply | { fault: 'oversize' }> {
    if (call.stream && isEventStream(call, reply)) {
      const mediaType = reply.headers['content-type'] ?? '';
      const maxBytes = this.settings.STREAM_MAX_BYTES;
      const terms = { ...call.stream, mediaType, maxBytes, share, passOn, signal, cancelled, closing };
      return { ...reply, ...(await collectEvents(body, terms)) };
    }
    const isFile =
      reply.status === 200 && operation !== 'check' && !isText(reply.headers['content-type'] ?? '');
    const chunks: Buffer[] = [];
    let size = 0;
    const arriving = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    for (let next = await arriving.next(); !next.done; next = await arriving.next()) {
      chunks.push(next.value);
      size += next.value.length;
      if (isFile && size > maxRowBytes) {
        const storedAs = runKeys.reply(runId);
        await this.payloads.putBody(storedAs, runId, rest(chunks, arriving), {
          mediaType: reply.headers['content-type'] ?? 'application/octet-stream',
          maxBytes: this.settings.ASSET_MAX_BYTES,
          signal,
        });
        return { ...reply, storedAs, body: new Uint8Array() };
      }
      if (size > this.settings.PROVIDER_REPLY_LIMIT) return { fault: 'oversize' };
      await share.grow(next.value.length, signal);
    }
    return { ...reply, body: Buffer.concat(chunks, size) };
  }
}

/** Aborts with the outer signal until it is disposed of. */
class Beginning implements Disposable {
  private readonly controller = new AbortController();
  private readonly abort = () => this.controller.abort(this.outer?.reason);

  constructor(private readonly outer: AbortSignal | undefined) {
    if (outer?.aborted) this.abort();
    else outer?.addEventListener('abort', this.abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  [Symbol.dispose](): void {
    this.outer?.removeEventListener('abort', this.abort);
  }
}

const isEventStream = (
  { stream }: HttpCall,
  { status, headers }: Pick<HttpReply, 'status' | 'headers'>,
): boolean =>
  stream !== undefined && status === 200 && essenceOf(headers['content-type'] ?? '') === 'text/event-stream';

const decoders: Record<string, () => Duplex> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Decompresses the body: some providers compress it although the request accepts no coding. */
function decoded({ headers, body }: Dispatcher.ResponseData): Readable {
  const decoder = decoders[String(headers['content-encoding']).trim().toLowerCase()];
  return decoder === undefined ? body : pipeline(body, decoder(), () => {});
}

/** Discards a body unread. Later errors of its connection are ignored, as they must not crash the process. */
export function discardBody(body: Readable): void {
  body.on('error', () => {}).destroy();
}

/** Yields the chunks that have arrived, then those still to come. */
async function* rest(chunks: Buffer[], arriving: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks.splice(0);
  for (let next = await arriving.next(); !next.done; next = await arriving.next()) yield next.value;
}

/** JSON or plain text, which an adapter reads. */
const isText = (contentType: string): boolean =>
  contentType === '' || essenceOf(contentType).startsWith('text/') || isJsonType(contentType);
