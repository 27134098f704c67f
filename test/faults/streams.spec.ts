import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, holdToInvariants, System, type TestServer } from '../harness/faults.js';
import {
  failOnLeftovers,
  type LiveAnswer,
  newTag,
  openAnswer,
  sha256,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';
import { roomy } from './crowd.js';
import { onRedis } from './redis-side.js';
import { quickLeases } from './worker-faults.js';

const path = '/v2/models/openai/gpt-5.5';
const crowd = 50;

interface Call {
  tag: string;
  body: string;
  gateway: App;
  answer: LiveAnswer;
}

/** The calls whose streams arrived whole, those that ended with an error, and those whose connections were cut. */
async function split(calls: readonly Call[]): Promise<{ whole: Call[]; failed: Call[]; cut: Call[] }> {
  const ends = await Promise.all(
    calls.map(async ({ answer }) => ((await answer.ended) ? isFailed(answer) : undefined)),
  );
  const those = (end: boolean | undefined) => calls.filter((_, nth) => ends[nth] === end);
  return { whole: those(false), failed: those(true), cut: those(undefined) };
}

/** Whether the answer ends with the router's own error. */
const isFailed = (answer: LiveAnswer): boolean =>
  /\n\nevent: error\ndata: {"detail":.*"error_type":"\w+"}\n\n$/.test(answer.bytes().toString());

describe.each(transports())('event streams on %s', (transport) => {
  let system: System;
  let caller: TestCaller;

  beforeAll(async () => {
    const env = { ...quickLeases, STREAM_IDLE_MS: '5000', STORE_PAYLOAD_MS: '2000' };
    system = await System.start({ transport, gateways: 2, workers: 2, env });
    caller = await system.caller(roomy);
  });
  afterAll(() => system.stop());

  const open = (gateway: App, { tag, body }: { tag: string; body: string }, pauseMs = 0) =>
    openAnswer(`${gateway.url}${path}`, {
      key: caller.key,
      body,
      headers: { 'idempotency-key': tag },
      pauseMs,
    });

  /** Begins streams that last a few seconds, and waits until text arrives in most of them. */
  async function begin(
    about: string,
    words: string,
    gateways: readonly App[] = system.gateways,
  ): Promise<Call[]> {
    const calls = await Promise.all(
      Array.from({ length: crowd }, async (_, nth): Promise<Call> => {
        const tag = newTag(about);
        const body = JSON.stringify({
          input: `[[sim:tag=${tag}]] ${words}`,
          max_output_tokens: 100,
          stream: true,
        });
        const gateway = gateways[nth % gateways.length] as App;
        return { tag, body, gateway, answer: await open(gateway, { tag, body }) };
      }),
    );
    await waitFor(
      () => calls.filter(({ answer }) => answer.bytes().includes('output_text.delta')).length > crowd / 2,
      { withinMs: 60_000, what: 'the text of most streams' },
    );
    return calls;
  }

  /** The digest of the bytes that the provider sent for the tag, which it must have got once. */
  async function sentOnce(tag: string): Promise<string | null | undefined> {
    const entries = await system.provider.ledger(tag);
    expect(entries).toHaveLength(1);
    return entries[0]?.replySha256;
  }

  /** Repeats a call that was cut off, at a gateway that lives, until it has an answer that stands. */
  const collected = (call: { tag: string; body: string }): Promise<LiveAnswer> =>
    waitFor(
      async () => {
        const answer = await open(system.gateways[0] as App, call).catch(() => undefined);
        return answer && answer.status !== 503 && ((await answer.ended) || answer.status !== 200) && answer;
      },
      { withinMs: 90_000, what: `an answer for ${call.tag}` },
    );

  it('a worker dies: its streams end with an error, their runs as outcome unknown; the others arrive whole', async () => {
    const calls = await begin('worker', '[[sim:stream_pause=1000]]');
    const [doomed] = system.workers;
    await system.kill(doomed as App);
    await system.startWorker();
    const { whole, failed, cut } = await split(calls);
    expect(cut).toEqual([]);
    for (const { tag, answer } of whole) expect(sha256(answer.bytes())).toBe(await sentOnce(tag));
    expect(whole.length).toBeGreaterThan(0);
    expect(failed.length).toBeGreaterThan(0);
    for (const call of failed) {
      await sentOnce(call.tag);
      const retried = await collected(call);
      expect([retried.status, retried.headers.get('x-service-error-type')]).toEqual([500, 'internal_error']);
    }
    await holdToInvariants(system);
  });

  it('a gateway dies: a retry at another one receives the whole stream', async () => {
    const doomed = await system.startGateway();
    const calls = await begin('gateway', '[[sim:stream_pause=1000]]', [doomed]);
    await system.kill(doomed);
    const { cut } = await split(calls);
    expect(cut.length).toBeGreaterThan(0);
    await Promise.all(
      cut.map(async (call) => {
        const retried = await collected(call);
        expect(retried.status).toBe(200);
        expect(retried.headers.get('idempotent-replayed')).toBe('true');
        expect(sha256(retried.bytes())).toBe(await sentOnce(call.tag));
      }),
    );
    await holdToInvariants(system);
  });

  it('a provider falls silent: the stream ends after the idle limit with the error provider_timeout', async () => {
    const call = { tag: newTag('silent'), body: '' };
    call.body = JSON.stringify({ input: `[[sim:tag=${call.tag}]] [[sim:stream_hang]]`, stream: true });
    const answer = await open(system.gateways[0] as App, call);
    expect(await answer.ended).toBe(true);
    expect(isFailed(answer)).toBe(true);
    const retried = await collected(call);
    expect(retried.status).toBe(504);
    expect(retried.headers.get('x-service-error-type')).toBe('provider_timeout');
    await holdToInvariants(system);
  });

  it('a caller that reads slowly receives the rest from the store, however long that takes', async () => {
    const call = { tag: newTag('slow'), body: '' };
    const words = `[[sim:tag=${call.tag}]] [[sim:stream_pause=1]] [[sim:stream_bytes=16000000]]`;
    call.body = JSON.stringify({ input: words, max_output_tokens: 100, stream: true });
    const answer = await open(system.gateways[0] as App, call, 60);
    expect(await answer.ended).toBe(true);
    expect(sha256(answer.bytes())).toBe(await sentOnce(call.tag));
    await holdToInvariants(system);
  });

  it('callers that do not read delay no run, and no process keeps their bytes', async () => {
    const before = await memoryOf();
    const bytes = 8_000_000;
    const unread = await Promise.all(
      Array.from({ length: 10 }, () => {
        const tag = newTag('unread');
        const words = `[[sim:tag=${tag}]] [[sim:stream_pause=1]] [[sim:stream_bytes=${bytes}]]`;
        const body = JSON.stringify({ input: words, max_output_tokens: 100, stream: true });
        // The first chunk is read, and then nothing for a long time.
        return open(system.gateways[1] as App, { tag, body }, 120_000);
      }),
    );
    await system.ended(caller);
    const held = (await memoryOf()) - before;
    process.stdout.write(
      `${Math.round(held / 1e6)} MB more after ten unread streams of 8 MB (${transport})\n`,
    );
    expect(held).toBeLessThan(10 * bytes);
    for (const answer of unread) answer.leave();
    await holdToInvariants(system);
  });

  /** Bytes of live objects and buffers in the gateway with the unread answers, after a collection. */
  async function memoryOf(): Promise<number> {
    const text = await (await fetch(`${(system.gateways[1] as App).internalUrl}/metrics`)).text();
    const of = (name: string) => Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    return of('router_nodejs_external_memory_bytes') + of('router_nodejs_heap_size_used_bytes');
  }
});

describe.each(onRedis())('event streams while %s is away', () => {
  it('arrive whole, without a gap, and each run is submitted once', async () => {
    const system = await System.start({ transport: 'redis', gateways: 2, workers: 2, env: quickLeases });
    try {
      const caller = await system.caller(roomy);
      const redis = system.redis as TestServer;
      const calls = await Promise.all(
        Array.from({ length: crowd }, async (_, nth) => {
          const tag = newTag('away');
          const input = `[[sim:tag=${tag}]] [[sim:stream_pause=1000]]`;
          const answer = await openAnswer(`${system.gateways[nth % 2]?.url}${path}`, {
            key: caller.key,
            body: JSON.stringify({ input, max_output_tokens: 100, stream: true }),
            headers: { 'idempotency-key': tag },
          });
          return { tag, answer };
        }),
      );
      await waitFor(() => calls.some(({ answer }) => answer.bytes().includes('output_text.delta')), {
        withinMs: 60_000,
        what: 'text',
      });
      await redis.kill('SIGKILL');
      await redis.restart();
      for (const { tag, answer } of calls) {
        expect(await answer.ended).toBe(true);
        const [entry, ...others] = await system.provider.ledger(tag);
        expect(others).toEqual([]);
        expect(sha256(answer.bytes())).toBe(entry?.replySha256);
      }
      await holdToInvariants(system);
    } finally {
      await system.stop();
    }
  });
});

failOnLeftovers();
