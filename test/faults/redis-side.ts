import { Redis } from 'ioredis';
import { transports } from '../harness/index.js';

/** For `describe.each(onRedis())('…')`: one case, or none if Redis is not installed. */
export const onRedis = (): string[] => transports().filter((kind) => kind === 'redis');

/** Sends one command over a separate connection, as an operator would. */
export async function redisCommand(url: string, ...command: [string, ...string[]]): Promise<unknown> {
  return withRedis(url, (client) => client.call(...command));
}

interface QueueSizes {
  waiting: number;
  active: number;
  delayed: number;
}

/** The sizes of a queue's keys. */
export async function queueSizes(url: string, name: string): Promise<QueueSizes> {
  const key = (part: string) => `{mr:${name}}:${name}:${part}`;
  return withRedis(url, async (client) => {
    const [waiting, active, delayed] = await Promise.all([
      client.llen(key('wait')),
      client.llen(key('active')),
      client.zcard(key('delayed')),
    ]);
    return { waiting, active, delayed };
  });
}

async function withRedis<T>(url: string, ask: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { retryStrategy: null, commandTimeout: 20_000 });
  client.on('error', () => {});
  try {
    return await ask(client);
  } finally {
    client.disconnect();
  }
}
