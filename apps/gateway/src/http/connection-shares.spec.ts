import { afterEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { Metrics } from '#observability';
import { fastify, type FastifyInstance } from 'fastify';
import { shareConnections } from './connection-shares.js';

const [one, other, proxy] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const silent = '';
const call = (address = '') => `GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`;

let server: FastifyInstance;
let metrics: Metrics;
const sockets: net.Socket[] = [];
/** Calls that stay unanswered until the end of the test. */
let held: (() => void)[];

async function listen(max: number): Promise<void> {
  held = [];
  metrics = new Metrics();
  server = fastify({ trustProxy: [proxy] });
  shareConnections(server, { MAX_CONNECTIONS: max, TRUSTED_PROXIES: [`${proxy}/32`] }, metrics);
  server.setErrorHandler((_error, _request, reply) => reply.code(503).send('no'));
  server.get('/', async () => {
    await new Promise<void>((resolve) => held.push(resolve));
    return 'ok';
  });
  await server.listen({ port: 0, host: '0.0.0.0' });
}
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const end of held) end();
  await server.close();
});

/** Opens a connection from a local address, and reports whether it stayed open. */
async function open(localAddress: string, bytes: string): Promise<{ socket: net.Socket; isOpen: boolean }> {
  const { port } = server.server.address() as AddressInfo;
  const before = held.length;
  const arrived = once(server.server, 'connection');
  const socket = net.connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
  sockets.push(socket);
  const closed = once(socket, 'close').then(() => false);
  await arrived;
  if (bytes === silent) return { socket, isOpen: !(await refused()) };
  socket.write(bytes);
  return { socket, isOpen: await Promise.race([closed, answeredOrHeld(socket, before)]) };
}

let countBefore = 0;
async function refused(): Promise<boolean> {
  const value = (await metrics.refusedConnections.get()).values[0]?.value ?? 0;
  const isMore = value > countBefore;
  countBefore = value;
  return isMore;
}

async function answeredOrHeld(socket: net.Socket, before: number): Promise<boolean> {
  while (held.length === before && socket.bytesRead === 0 && !socket.destroyed)
    await new Promise((resolve) => setImmediate(resolve));
  return held.length > before;
}

it('leaves room when one network opens as many connections as it can', async () => {
  await listen(10);
  countBefore = 0;
  const opened: boolean[] = [];
  for (let nth = 0; nth < 8; nth += 1) opened.push((await open(one, silent)).isOpen);
  expect(opened).toEqual([true, true, true, true, true, false, false, false]);
  expect((await open(other, call())).isOpen).toBe(true);
});

it('closes the connection that has been silent for the longest when there is no other room', async () => {
  await listen(4);
  countBefore = 0;
  const { socket: first } = await open(one, silent);
  const { socket: busy } = await open(one, call());
  const ended = once(first, 'close');
  for (let nth = 0; nth < 3; nth += 1) expect((await open(proxy, call(`192.0.2.${nth}`))).isOpen).toBe(true);
  await ended;
  expect(busy.destroyed).toBe(false);
});

it('closes silent connections of many networks for a new one', async () => {
  await listen(20);
  countBefore = 0;
  const { socket: busy } = await open('127.0.1.0', call());
  for (let nth = 1; nth < 20; nth += 1) await open(`127.0.1.${nth}`, silent);
  for (let nth = 1; nth <= 3; nth += 1) expect((await open(`127.0.2.${nth}`, call())).isOpen).toBe(true);
  for (let nth = 2; nth <= 4; nth += 1) expect((await open('127.0.2.1', call())).isOpen).toBe(true);
  expect(busy.destroyed).toBe(false);
  expect(await refused()).toBe(false);
});

it('does not close connections for a network that has an equal share', async () => {
  await listen(12);
  countBefore = 0;
  const [{ socket: first }] = [await open(one, silent), await open(one, silent)];
  const opened: boolean[] = [];
  for (let nth = 0; nth < 8; nth += 1) opened.push((await open(other, silent)).isOpen);
  expect(opened).toEqual([true, true, true, true, true, false, false, false]);
  expect(first.destroyed).toBe(false);
});

it('does not close a connection that has answered only the first of several calls', async () => {
  await listen(4);
  countBefore = 0;
  const { socket: busy } = await open(one, call() + call());
  while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
  const answered = once(busy, 'data');
  held[0]?.();
  await answered;
  for (let nth = 1; nth <= 3; nth += 1) await open(`127.0.1.${nth}`, silent);
  expect((await open(other, call())).isOpen).toBe(true);
  expect(busy.destroyed).toBe(false);
});

it('gives a proxy no share, but one to each of its callers', async () => {
  await listen(10);
  const opened: boolean[] = [];
  for (let nth = 0; nth < 6; nth += 1) opened.push((await open(proxy, call('192.0.2.1'))).isOpen);
  expect(opened).toEqual([true, true, true, true, true, false]);
  expect((await open(proxy, call('192.0.2.2'))).isOpen).toBe(true);
});
