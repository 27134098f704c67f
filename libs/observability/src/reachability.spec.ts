import { expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { unreachable } from './reachability.js';

it('names each server that takes no connection, and its setting, but no password', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const there = `redis://:secret@127.0.0.1:${port}`;
  const nowhere = 'postgres://user:secret@127.0.0.1:1/router';
  try {
    expect(
      await unreachable({
        DATABASE_URL: nowhere,
        REDIS_URL: `redis://127.0.0.1:1,${there}`,
        S3_ENDPOINT: 'http://127.0.0.1:2',
        OTHER: undefined,
        SOCKET: '/run/postgres',
      }),
    ).toEqual([
      'DATABASE_URL: nothing answers at 127.0.0.1:1 (ECONNREFUSED).',
      'S3_ENDPOINT: nothing answers at 127.0.0.1:2 (ECONNREFUSED).',
    ]);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
