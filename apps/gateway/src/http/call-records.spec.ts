import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { InputRejection } from '#errors';
import { Metrics, type Tracing } from '#observability';
import { fastify } from 'fastify';
import { pino } from 'pino';
import { nameRefusedFields } from '../answers/refused-fields.js';
import { recordCalls } from './call-records.js';

const proxy = '127.0.0.3';
const isKnown = (params: unknown) => (params as { id: string }).id === 'known';

it.each([
  ['the address that a trusted proxy reports', proxy, '192.0.2.7'],
  ['the address of the connection, if it is not a trusted proxy', '198.51.100.9', '198.51.100.9'],
])('logs %s', async (_what, remoteAddress, expected) => {
  const lines = new PassThrough();
  const server = fastify({ trustProxy: [proxy] });
  recordCalls(server, pino(lines), new Metrics(), { on: false } as Tracing, 100);
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

it.each([
  [10, ['404', '200 of 10', '200 of 10']],
  [1, ['404', ...Array.from({ length: 25 }, () => '200')]],
  [0, ['404']],
])('logs one of %d successful status polls, and measures them all', async (sample, expected) => {
  const lines = new PassThrough();
  const server = fastify({ forceCloseConnections: true });
  const metrics = new Metrics();
  recordCalls(server, pino(lines), metrics, { on: false } as Tracing, sample);
  server.get('/runs/:id/status', ({ params }, reply) => reply.code(isKnown(params) ? 200 : 404).send());
  server.get('/last', () => 'ok');
  // An injected call looks like one whose caller left.
  const url = await server.listen({ port: 0 });
  const call = async (path: string) => (await fetch(url + path)).text();
  await call('/runs/unknown/status');
  for (let poll = 0; poll < 25; poll += 1) await call('/runs/known/status');
  await call('/last');
  const written: string[] = [];
  for await (const line of createInterface(lines)) {
    const { route, status, sampled } = JSON.parse(line) as Record<string, string>;
    if (route === '/last') break;
    written.push(sampled === undefined ? `${status}` : `${status} of ${sampled}`);
  }
  expect(written).toEqual(expected);
  const measured = (await metrics.registry.metrics())
    .split('\n')
    .filter((line) => /_duration_seconds_count\{.*route="\/runs\/:id\/status"/.test(line));
  expect(new Set(measured.map((line) => line.split(' ').at(-1)))).toEqual(new Set(['1', '25']));
  await server.close();
});

it('logs the model and the fields of a refused call, but no name that a caller made up', async () => {
  const lines = new PassThrough();
  const server = fastify({ forceCloseConnections: true });
  recordCalls(server, pino(lines), new Metrics(), { on: false } as Tracing, 0);
  const fields = [
    ['body', 'image', 0],
    ['body', 'a name\nof any length'],
  ].map((loc) => ({
    loc,
    msg: 'It is wrong.',
    type: 'x',
  }));
  server.post('/models/:provider/:model', (_request, reply) => {
    nameRefusedFields(reply, new InputRejection(fields));
    return reply.code(422).send();
  });
  const url = await server.listen({ port: 0 });
  const written = once(lines, 'data');
  await (await fetch(`${url}/models/bfl/flux-2-pro`, { method: 'POST' })).text();
  const [line] = (await written) as [Buffer];
  expect(JSON.parse(line.toString())).toMatchObject({
    status: 422,
    model: 'bfl/flux-2-pro',
    fields: ['body.image.0', '…'],
  });
  await server.close();
});
