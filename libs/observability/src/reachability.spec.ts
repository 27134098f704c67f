import { expect, it } from '@jest/globals';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { unreachable } from './reachability.js';

/** Runs a server that answers everything with the same reply. */
async function serving<T>(reply: string, use: (port: number) => Promise<T>): Promise<T> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('data', () => socket.write(reply));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

it('names each unreachable server and its setting, but never a password', async () => {
  const lines = await serving('+PONG\r\n', (port) =>
    unreachable({
      DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/router',
      REDIS_URL: `redis://127.0.0.1:1,redis://:secret@127.0.0.1:${port}`,
      S3_ENDPOINT: 'http://127.0.0.1:2',
      OTHER: undefined,
      SOCKET: '/run/postgres',
    }),
  );
  expect(lines).toEqual([
    'DATABASE_URL: nothing answers at 127.0.0.1:1 (ECONNREFUSED).',
    'S3_ENDPOINT: nothing answers at 127.0.0.1:2 (ECONNREFUSED).',
  ]);
});

it.each(['WRONGPASS', 'NOAUTH'])('reports that Redis rejects the password (%s)', (refusal) =>
  serving(`-${refusal} of some kind\r\n`, async (port) =>
    expect(await unreachable({ REDIS_URL: `redis://user:secret@127.0.0.1:${port}` })).toEqual([
      `REDIS_URL: 127.0.0.1:${port} rejects the password (${refusal}).`,
    ]),
  ),
);
