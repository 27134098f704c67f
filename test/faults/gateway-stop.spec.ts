import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import net from 'node:net';
import { type App, holdToInvariants, least, spawnApp, System } from '../harness/faults.js';
import {
  type Caller,
  failOnLeftovers,
  newTag,
  openEvents,
  tcpProxy,
  type TcpProxy,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

let system: System;
let gateway: App;
let caller: Caller;

beforeAll(async () => {
  system = await System.start({ transport: transports()[0] ?? 'postgres', workers: 0 });
  gateway = system.gateways[0] as App;
  caller = await system.caller();
});
afterAll(() => system.stop());

/** A connection on which `bytes` were sent, and everything received so far. */
async function connection(
  bytes: string,
  to = gateway,
): Promise<{ socket: net.Socket; received: () => string }> {
  const socket = net.connect(to.port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString())).on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return { socket, received: () => received };
}

/** Whether the app refuses new connections. */
async function isRefused({ port }: App): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}

it('a stopping gateway closes idle connections, and answers calls that have begun', async () => {
  const body = '{"prompt":"begun"}';
  const silent = await Promise.all(
    ['', 'GET /v2/models HTTP/1.1\r\nHost: a\r\n'].map((bytes) => connection(bytes)),
  );
  const calling = await connection(
    [
      'POST /v2/models/bfl/flux-2-pro/requests HTTP/1.1',
      'Host: a',
      `X-API-Key: ${caller.key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      '\r\n',
    ].join('\r\n'),
  );
  await waitFor(() => calling.received().includes('100 Continue'), { withinMs: 20_000, what: 'the call' });
  system.forget(gateway);
  const stopped = gateway.stop();
  for (const { socket } of silent) if (!socket.closed) await once(socket, 'close');
  calling.socket.write(body);
  await once(calling.socket, 'close');
  expect(calling.received()).toMatch(/HTTP\/1\.1 201 Created\r\n(.+\r\n)*connection: close\r\n/);
  // The exit code would be 1 after CLOSE_TIMEOUT_MS or a second signal.
  expect(await stopped).toBe(0);
});

it('a stopping gateway closes a connection that idles after an answer from before the stop', async () => {
  const stopping = await system.startGateway({ CLOSE_TIMEOUT_MS: '600000' });
  system.forget(stopping);
  // Larger than the buffers of a connection.
  const bytes = Buffer.alloc(20 * 1024 * 1024);
  const headers = { 'content-type': 'application/octet-stream' };
  const uploaded = await caller.call('POST', `${stopping.url}/v2/files`, {
    body: bytes,
    headers,
    withinMs: 60_000,
  });
  const { pathname, search } = new URL(String(uploaded.json()['url']));
  const socket = net.connect(stopping.port, '127.0.0.1');
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await once(socket, 'readable');
  const stopped = stopping.stop();
  await waitFor(() => isRefused(stopping), { withinMs: 20_000, what: 'the listener to close' });
  let received = 0;
  socket.on('data', (chunk) => (received += chunk.length));
  expect(await stopped).toBe(0);
  if (!socket.closed) await once(socket, 'close');
  expect(received).toBeGreaterThan(bytes.length);
});

it('a stopping gateway gives an agent the id of the run that it waits for', async () => {
  const [stopping, agent] = [await system.startGateway(), await system.caller()];
  const call = {
    name: 'run_model',
    arguments: { model: 'bfl/flux-2-pro', input: { prompt: 'waited for' }, wait_seconds: 45 },
  };
  const answering = agent.call('POST', `${stopping.url}/mcp`, {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    headers: { accept: 'application/json, text/event-stream' },
  });
  const ofAgent = 'SELECT id FROM run WHERE workspace_id = $1';
  const found = await waitFor(
    async () => (await system.sql<{ id: string }>(ofAgent, [agent.workspaceId]))[0],
    { withinMs: 20_000, what: 'the run' },
  );
  system.forget(stopping);
  const stopped = stopping.stop();
  expect((await answering).bytes.toString()).toContain(found.id);
  expect(await stopped).toBe(0);
});

describe('a stopping gateway with a held call', () => {
  const model = 'bfl/flux-2-pro';

  beforeAll(() => system.startWorker());

  /** A synchronous call whose run the provider has accepted, and a status stream of the same run. */
  async function hold(stopping: App) {
    const tag = newTag('held');
    const answering = caller.call('POST', `${stopping.url}/v2/models/${model}`, {
      body: JSON.stringify({ prompt: `[[sim:tag=${tag}]] ${unending}` }),
      headers: { 'idempotency-key': tag },
      withinMs: 60_000,
    });
    answering.catch(() => {});
    const handled =
      'SELECT run_id AS id FROM idempotency_key JOIN run ON id = run_id WHERE key = $1 AND handle IS NOT NULL';
    const run = await waitFor(async () => (await system.sql<{ id: string }>(handled, [tag]))[0], {
      withinMs: 30_000,
      what: 'the handle of the held run',
    });
    const events = `${stopping.url}/v2/models/${model}/requests/${run.id}/status/stream`;
    return { tag, answering, stream: await openEvents(events, { 'x-api-key': caller.key }) };
  }

  it('is not ready, ends its streams, closes its listener and idle connections, and answers the call when its run is done', async () => {
    const stopping = await system.startGateway({ CLOSE_TIMEOUT_MS: '600000' });
    system.forget(stopping);
    const { tag, answering, stream } = await hold(stopping);
    const idle = await connection('GET /v2/none HTTP/1.1\r\nHost: a\r\n\r\n', stopping);
    await waitFor(() => idle.received().includes('404'), { withinMs: 20_000, what: 'an answer' });
    const stopped = stopping.stop();
    const startedMs = performance.now();
    expect(await stream.ended).toBe(true);
    // A stream that is not told notices the stop at its next keep-alive, after up to 15 s.
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    expect(stream.events.at(-1)?.data['status']).toBe('IN_PROGRESS');
    await once(idle.socket, 'close');
    await waitFor(() => isRefused(stopping), { withinMs: 20_000, what: 'the listener to close' });
    const probed = await fetch(`${stopping.internalUrl}/health/ready`);
    expect([probed.status, await probed.text()]).toEqual([503, 'not ready\n']);
    await system.provider.finish(tag);
    const answer = await answering;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await stopped).toBe(0);
    await holdToInvariants(system);
  });

  it('answers 504 with Retry-After within CLOSE_TIMEOUT_MS if the run takes longer', async () => {
    const stopping = await system.startGateway({ CLOSE_TIMEOUT_MS: '6000' });
    system.forget(stopping);
    const { tag, answering } = await hold(stopping);
    const stopped = stopping.stop();
    const answer = await answering;
    expect([answer.status, answer.bucket]).toEqual([504, 'deadline_exceeded']);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await stopped).toBe(0);
    await system.provider.finish(tag);
    await holdToInvariants(system);
  });

  it('exits at once with code 1 on a second signal', async () => {
    const took = await least(2_000, async () => {
      // Not a part of the system, which expects 0.
      const stopping = await spawnApp('gateway', system.env());
      await stopping.ready;
      const { tag, answering, stream } = await hold(stopping);
      await stopping.kill('SIGTERM');
      await stream.ended;
      const startedMs = performance.now();
      await stopping.kill('SIGINT');
      await expect(answering).rejects.toThrow('fetch failed');
      if (stopping.child.exitCode === null) await once(stopping.child, 'exit');
      expect(stopping.child.exitCode).toBe(1);
      await system.provider.finish(tag);
      return performance.now() - startedMs;
    });
    expect(took).toBeLessThan(2_000);
  });

  it('while Postgres and Redis are frozen answers 504 and exits within CLOSE_TIMEOUT_MS', async () => {
    const { stopping, freeze, close } = await freezable({ CLOSE_TIMEOUT_MS: '40000' });
    const { tag, answering, stream } = await hold(stopping);
    freeze();
    const startedMs = performance.now();
    const stopped = stopping.stop();
    expect(await stream.ended).toBe(true);
    const answer = await answering;
    expect([answer.status, answer.bucket]).toEqual([504, 'deadline_exceeded']);
    await stopped;
    expect(performance.now() - startedMs).toBeLessThan(45_000);
    await close();
    await system.provider.finish(tag);
    await holdToInvariants(system);
  });
});

it('a stopping gateway without calls exits soon, with code 0, while Postgres and Redis are frozen', async () => {
  const { stopping, freeze, close } = await freezable({ CLOSE_TIMEOUT_MS: '600000' });
  freeze();
  const startedMs = performance.now();
  expect(await stopping.stop()).toBe(0);
  // The stop does not wait for the time that held calls would have.
  expect(performance.now() - startedMs).toBeLessThan(30_000);
  await close();
});

/** A gateway, and a function that cuts it off from its servers in the middle of their work. */
async function freezable(env: Record<string, string>) {
  const { DATABASE_URL = '', REDIS_URL } = system.env();
  const proxies: TcpProxy[] = [];
  const through = async (original: string): Promise<string> => {
    const url = new URL(original);
    const proxy = await tcpProxy({ port: Number(url.port), host: url.hostname });
    proxies.push(proxy);
    url.host = proxy.address;
    return url.href;
  };
  const stopping = await system.startGateway({
    DATABASE_URL: await through(DATABASE_URL),
    ...(REDIS_URL !== undefined && { REDIS_URL: await through(REDIS_URL) }),
    // The defaults.
    DATABASE_ACQUIRE_MS: '2000',
    DATABASE_STATEMENT_MS: '5000',
    ...env,
  });
  system.forget(stopping);
  return {
    stopping,
    freeze: () => proxies.forEach((proxy) => proxy.set('blackhole')),
    close: async () => {
      for (const proxy of proxies) {
        proxy.set('pass');
        await proxy.close();
      }
    },
  };
}

failOnLeftovers();
