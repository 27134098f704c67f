import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { lingerAfterEarlyAnswers, type LingerLimits } from './lingering.js';

const mebibyte = 1024 * 1024;
const head = (bytes: number, connection: string) =>
  `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\nContent-Type: a/b\r\nConnection: ${connection}\r\n\r\n`;

/** A server that rejects each request by its headers, and a connection to it whose answer is read only at the end. */
async function refusing(limits: LingerLimits) {
  const server = fastify();
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  lingerAfterEarlyAnswers(server, limits);
  const parsed = { pieces: 0 };
  server.addHook('onRequest', ({ raw }, _reply, done) => {
    const push = raw.push.bind(raw);
    raw.push = (piece) => {
      parsed.pieces += 1;
      return push(piece);
    };
    done();
  });
  server.post('/', (_request, reply) => reply.code(401).send('no'));
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  const socket = net.connect({ port, host: '127.0.0.1' }).pause();
  const failures: Error[] = [];
  socket.on('error', (error) => failures.push(error));
  const write = (piece: string | Buffer) =>
    new Promise<void>((resolve) => socket.write(piece, () => resolve()));
  const rest = async () => {
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString())).resume();
    await once(socket, 'close');
    return text;
  };
  return { socket, write, rest, failures, parsed, close: () => server.close() };
}

const patient = { maxMs: 60_000, maxQuietMs: 60_000, maxBytes: 64 * mebibyte };

it.each(['close', 'keep-alive'])(
  'lets a caller send its whole body and then read (%s)',
  async (connection) => {
    const { socket, write, rest, failures, close } = await refusing(patient);
    await write(head(48 * mebibyte, connection));
    for (let sent = 0; sent < 48; sent += 1) await write(Buffer.alloc(mebibyte));
    socket.end();
    expect(await rest()).toMatch(/^HTTP\/1\.1 401 .*\r\n\r\nno$/s);
    expect(failures).toEqual([]);
    await close();
  },
);

it.each([
  ['nothing arrives for too long', { ...patient, maxQuietMs: 20 }],
  ['reading takes too long', { ...patient, maxMs: 20 }],
])('closes when %s', async (_when, limits) => {
  for (const connection of ['close', 'keep-alive']) {
    const { write, rest, close } = await refusing(limits);
    await write(head(48 * mebibyte, connection));
    expect(await rest()).toMatch(/^HTTP\/1\.1 401 /);
    await close();
  }
});

it('closes when too much has arrived', async () => {
  const { socket, write, close } = await refusing({ ...patient, maxBytes: mebibyte });
  await write(head(2 ** 40, 'close'));
  while (!socket.destroyed) await write(Buffer.alloc(mebibyte));
  await close();
});

it.each(['close', 'keep-alive'])('stops parsing a body in many small pieces (%s)', async (connection) => {
  const { socket, write, rest, parsed, close } = await refusing(patient);
  await write(
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\nConnection: ${connection}\r\n\r\n`,
  );
  const answer = rest();
  // Like a caller that does not read its answer before it has sent everything.
  socket.pause();
  for (let sent = 0; sent < 100; sent += 1) await write('1\r\nx\r\n'.repeat(1_000));
  socket.resume().end();
  expect(await answer).toMatch(/^HTTP\/1\.1 401 .*\r\n\r\nno$/s);
  // Out of 100,000: the allowed ones, and those that were read with them.
  expect(parsed.pieces).toBeLessThan(4_096 + 11_000);
  await close();
});

it('closes when a body in many small pieces does not end', async () => {
  const { socket, write, parsed, close } = await refusing(patient);
  await write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n');
  let written = 0;
  while (!socket.destroyed && written < 16 * mebibyte) {
    await write('1\r\nx\r\n'.repeat(10_000));
    written += 60_000;
  }
  expect(socket.destroyed).toBe(true);
  expect(parsed.pieces).toBeLessThan(4_096 + 11_000);
  await close();
});
