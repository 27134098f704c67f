import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import net from 'node:net';
import { Client } from 'pg';
import { isRunning } from '../../apps/local/src/processes.js';
import { startPostgres } from '../harness/faults.js';
import {
  createDatabase,
  failOnLeftovers,
  startRedis,
  tcpProxy,
  transports,
  waitFor,
  type TcpProxy,
} from '../harness/index.js';

describe('createDatabase', () => {
  it('creates a separate database for each caller, and drops it', async () => {
    const [one, other] = await Promise.all([createDatabase(), createDatabase()]);
    await ask(one.url, 'CREATE TABLE mine (id int)');
    expect(await ask(one.url, 'SELECT * FROM mine')).toEqual([]);
    await expect(ask(other.url, 'SELECT * FROM mine')).rejects.toThrow('does not exist');
    await Promise.all([one.drop(), other.drop()]);
    await expect(ask(one.url, 'SELECT 1')).rejects.toThrow('does not exist');
  });
});

describe('startPostgres', () => {
  it('keeps committed rows across a kill, on the same port', async () => {
    const server = await startPostgres();
    await ask(server.url, 'CREATE TABLE kept (id int); INSERT INTO kept VALUES (1)');
    await server.kill('SIGKILL');
    await server.restart();
    expect(await ask(server.url, 'SELECT id FROM kept')).toEqual([{ id: 1 }]);
    await server.stop();
    expect(isRunning(server.pid)).toBe(false);
  });
});

describe.each(transports().filter((kind) => kind === 'redis'))('startRedis (%s)', () => {
  it('keeps its data across a restart', async () => {
    const server = await startRedis();
    expect(await redis(server.port, 'SET a 1')).toContain('+OK');
    await server.restart();
    expect(await redis(server.port, 'GET a')).toContain('$1\r\n1');
    await server.kill('SIGKILL');
    await server.restart();
    await server.stop();
    expect(isRunning(server.pid)).toBe(false);
  });
});

describe('tcpProxy', () => {
  let proxy: TcpProxy;
  let echo: net.Server;
  let received = '';
  beforeAll(async () => {
    echo = net.createServer((socket) =>
      socket
        .on('error', () => {})
        .on('data', (chunk) => {
          received += chunk.toString();
          socket.write(chunk);
        }),
    );
    await once(echo.listen(0, '127.0.0.1'), 'listening');
    proxy = await tcpProxy({ port: (echo.address() as net.AddressInfo).port });
  });
  afterAll(async () => {
    await proxy.close();
    echo.close();
  });

  it('holds back answers when half open, holds back everything as a blackhole, and delivers in order later', async () => {
    const client = await connect(proxy.port);
    client.socket.write('a');
    await waitFor(() => client.said() === 'a', { withinMs: 20_000, what: 'the echo' });
    proxy.set('half-open');
    client.socket.write('b');
    await waitFor(() => received === 'ab', { withinMs: 20_000, what: 'the open direction' });
    proxy.set('blackhole');
    client.socket.write('c');
    const late = await connect(proxy.port);
    late.socket.write('z');
    proxy.set('latency', 100);
    await waitFor(() => received.includes('c') && received.includes('z'), {
      withinMs: 20_000,
      what: 'the bytes that the blackhole held back',
    });
    proxy.set('pass');
    client.socket.write('d');
    await waitFor(() => client.said() === 'abcd', { withinMs: 20_000, what: 'all echoes in order' });
    late.socket.destroy();
    client.socket.destroy();
  });

  it('resets open and new connections', async () => {
    proxy.set('pass');
    const client = await connect(proxy.port);
    await waitFor(() => proxy.connections === 1, { withinMs: 20_000, what: 'the connection' });
    proxy.set('reset');
    await waitFor(() => client.failure() === 'ECONNRESET', { withinMs: 20_000, what: 'the reset' });
    const next = open(proxy.port);
    await waitFor(() => next.failure() === 'ECONNRESET', { withinMs: 20_000, what: 'the second reset' });
  });
});

describe('waitFor', () => {
  it('names the condition it waited for, and the last error', async () => {
    const never = waitFor(() => Promise.reject(new Error('not there')), { withinMs: 60, what: 'a thing' });
    await expect(never).rejects.toThrow('Waited 60 ms for a thing: not there');
  });
});

failOnLeftovers();

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function redis(port: number, command: string): Promise<string> {
  const client = await connect(port);
  client.socket.write(`${command}\r\n`);
  const answer = await waitFor(() => client.said() || null, { withinMs: 20_000, what: 'an answer' });
  client.socket.destroy();
  return answer;
}

async function connect(port: number) {
  const client = open(port);
  await once(client.socket, 'connect');
  return client;
}

function open(port: number) {
  let said = '';
  let failure: string | undefined;
  const socket = net.connect({ port, host: '127.0.0.1' });
  socket.on('data', (chunk) => (said += chunk.toString()));
  socket.on('error', (error: NodeJS.ErrnoException) => (failure = error.code));
  return { socket, said: () => said, failure: () => failure };
}
