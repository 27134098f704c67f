import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import net from 'node:net';
import { type App, System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, transports, waitFor } from '../harness/index.js';

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
async function connection(bytes: string): Promise<{ socket: net.Socket; received: () => string }> {
  const socket = net.connect(gateway.port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString())).on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return { socket, received: () => received };
}

it('a stopping gateway closes idle connections, and answers calls that have begun', async () => {
  const body = '{"prompt":"begun"}';
  const silent = await Promise.all(['', 'GET /v2/models HTTP/1.1\r\nHost: a\r\n'].map(connection));
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
  // The exit code would be 1 after CLOSE_TIMEOUT_MS.
  expect(await stopped).toBe(0);
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

failOnLeftovers();
