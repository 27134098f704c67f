import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Metrics, type Tracing } from '#observability';
import { fastify } from 'fastify';
import { pino } from 'pino';
import { recordCalls } from './call-records.js';

const proxy = '127.0.0.3';

it.each([
  ['the address that a trusted proxy reports', proxy, '192.0.2.7'],
  ['the address of the connection, if it is not a trusted proxy', '198.51.100.9', '198.51.100.9'],
])('logs %s', async (_what, remoteAddress, expected) => {
  const lines = new PassThrough();
  const server = fastify({ trustProxy: [proxy] });
  recordCalls(server, pino(lines), new Metrics(), { on: false } as Tracing);
  server.get('/nodes', () => 'ok');
  const written = once(lines, 'data');
  await server.inject({ url: '/nodes?a=b', remoteAddress, headers: { 'x-forwarded-for': '192.0.2.7' } });
  const [line] = (await written) as [Buffer];
  expect(JSON.parse(line.toString())).toMatchObject({
    msg: 'call',
    method: 'GET',
    route: '/nodes',
    client_address: expected,
  });
  await server.close();
});
