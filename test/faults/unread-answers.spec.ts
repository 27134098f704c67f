import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import net from 'node:net';
import { type App, residentBytes, System } from '../harness/faults.js';
import { failOnLeftovers, file, ScriptedServer, transports, waitFor } from '../harness/index.js';
import { metric } from './metrics.js';

const mebibyte = 1024 * 1024;
const callers = 500;

let provider: ScriptedServer;
let system: System;
let gateway: App;
beforeAll(async () => {
  provider = await ScriptedServer.start();
  provider.paths.set('/v1/audio/speech', file('audio/mpeg', 20 * mebibyte));
  system = await System.start({
    transport: transports()[0] ?? 'postgres',
    env: { PROVIDER_OPENAI_BASE_URL: `${provider.url}/v1`, MAX_CONNECTIONS: String(2 * (callers + 20)) },
  });
  [gateway] = system.gateways as [App];
});
afterAll(async () => {
  await system.stop();
  await provider.stop();
});

/** Requests a result and reads only its headers. */
function unread(path: string, key: string): Promise<net.Socket> {
  const { port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port: Number(port), host: '127.0.0.1' }, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`),
    );
    socket.on('error', reject).once('readable', () => resolve(socket.removeListener('error', reject)));
    socket.on('error', () => {});
  });
}

it(`disconnects ${callers} callers that do not read 20 MiB, in bounded memory, and rejects more connections`, async () => {
  const caller = await system.caller({ inflightLimit: 10 });
  const run = await caller.submit('openai/tts-1', '{"model":"tts-1","input":"x","voice":"alloy"}');
  await caller.completed(run, 60_000);
  expect((await caller.collect(run)).bytes).toHaveLength(20 * mebibyte);

  const path = `/v2/models/openai/tts-1/requests/${run.requestId}`;
  const idle = residentBytes(gateway);
  const beganMs = performance.now();
  const sockets = await Promise.all(Array.from({ length: callers }, () => unread(path, caller.key)));
  const rise = residentBytes(gateway) - idle;
  const open = () => sockets.filter((socket) => !socket.destroyed).length;
  expect(open()).toBe(callers);

  const refused = await Promise.allSettled(Array.from({ length: 40 }, () => unread('/nodes', '')));
  expect(refused.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(10);
  for (const each of refused) if (each.status === 'fulfilled') each.value.destroy();
  expect(await metric(gateway, 'router_connections_refused_total')).toBeGreaterThanOrEqual(10);
  expect((await fetch(`${gateway.internalUrl}/health/ready`)).status).toBe(200);

  // A closed connection shows only after the bytes in the kernel's buffer are read.
  await waitFor(() => readdirSync(`/proc/${gateway.pid}/fd`).length < callers / 2, {
    withinMs: 90_000,
    what: 'the callers to be disconnected',
    everyMs: 500,
  });
  process.stderr.write(
    `${callers} unread answers: +${Math.round(rise / mebibyte)} MiB, disconnected after ${Math.round((performance.now() - beganMs) / 1000)} s\n`,
  );
  expect(rise).toBeLessThan(256 * mebibyte);
  expect((await caller.collect(run)).bytes).toHaveLength(20 * mebibyte);
  for (const socket of sockets) socket.destroy();
});

failOnLeftovers();
