import { describe, expect, it } from '@jest/globals';
import { done, type JobResult } from '#queue';
import { Redis } from 'ioredis';
import { failOnLeftovers, startRedis, transports } from '../harness/index.js';
import { enqueueAll, enqueueOne, newProvider, newRunId, newRuns, openQueues } from './bench.js';
import { startRedisCluster } from './redis-cluster.js';
import { transportSuite } from './suite.js';
import { until } from './until.js';

transportSuite('redis');

const perhaps = transports().includes('redis') ? describe : describe.skip;

perhaps('redis', () => {
  it('fetches the next run in the call that delays the current one', async () => {
    const server = await startRedis({ durable: false });
    const app = await openQueues({ REDIS_URL: server.url });
    const client = new Redis(server.url);
    const calls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1]);
    try {
      const provider = newProvider();
      const handled = new Set<string>();
      await until(() => app.queues.healthy(), 60_000);
      await enqueueAll(
        app,
        newRuns(1500, provider).map((run) => ({ ...run, queue: 'poll' as const })),
      );
      const before = await calls();
      app.consume(
        provider,
        async (runId) => {
          handled.add(runId);
          return { kind: 'retry', delayMs: 3_600_000 };
        },
        10_000,
        'poll',
      );
      await until(() => handled.size === 1500, 60_000);
      expect((await calls()) - before).toBeLessThan(2500);
    } finally {
      client.disconnect();
      await app.close();
      await server.stop();
    }
  });
});

perhaps('redis', () => {
  it('keeps the due time with the job, and moves it only if the run was handled', async () => {
    const server = await startRedis({ durable: false });
    const [first, second] = [
      await openQueues({ REDIS_URL: server.url }),
      await openQueues({ REDIS_URL: server.url }),
    ];
    const client = new Redis(server.url);
    try {
      const [provider, runId] = [newProvider(), newRunId()];
      const job = `{mr:poll}:poll:${runId}`;
      const read = async () => JSON.parse((await client.hget(job, 'data')) ?? '{}') as { dueAtMs: number };
      await until(() => first.queues.healthy(), 60_000);
      const beforeMs = Date.now();
      await until(
        async () => (await first.enqueue([{ queue: 'poll', provider, runId, delayMs: 100 }]))[0] === true,
        60_000,
      );
      const { dueAtMs } = await read();
      expect(dueAtMs).toBeGreaterThanOrEqual(beforeMs + 100);
      const seen: number[] = [];
      const results: JobResult[] = [
        { kind: 'retry', delayMs: 100, isPutBack: true },
        { kind: 'retry', delayMs: 50 },
        done,
      ];
      const handle = async () => {
        seen.push((await read()).dueAtMs);
        return results[seen.length - 1] ?? done;
      };
      for (const app of [first, second]) app.consume(provider, handle, 10, 'poll');
      await until(() => seen.length === 3, 60_000);
      expect(seen.slice(0, 2)).toEqual([dueAtMs, dueAtMs]);
      expect(seen[2]).toBeGreaterThan(dueAtMs + 100);
    } finally {
      client.disconnect();
      await Promise.all([first.close(), second.close()]);
      await server.stop();
    }
  });
});

perhaps('redis', () => {
  it('unsubscribes from many runs in one command', async () => {
    const server = await startRedis({ durable: false });
    const app = await openQueues({ REDIS_URL: server.url });
    const client = new Redis(server.url);
    const channels = async () => (await client.pubsub('CHANNELS', 'mr:news:*')) as string[];
    const unsubscribed = async () =>
      Number(/cmdstat_unsubscribe:calls=(\d+)/.exec(await client.info('commandstats'))?.[1]);
    try {
      await until(() => app.queues.healthy(), 60_000);
      const leaving = newRuns(20, newProvider()).map(({ runId }) => app.signals.subscribe(runId, () => {}));
      await until(async () => (await channels()).length === 20, 60_000);
      for (const leave of leaving) leave();
      await until(async () => (await channels()).length === 0, 60_000);
      expect(await unsubscribed()).toBe(1);
    } finally {
      client.disconnect();
      await app.close();
      await server.stop();
    }
  });
});

perhaps('redis cluster', () => {
  it('carries runs and wake-ups', async () => {
    const server = await startRedisCluster();
    const app = await openQueues({ REDIS_URL: `${server.url},${server.url}` });
    try {
      await until(() => app.queues.healthy(), 60_000);
      const handled: string[] = [];
      const providers = [newProvider(), newProvider(), newProvider()];
      for (const provider of providers) {
        app.consume(provider, async (runId) => {
          handled.push(runId);
          await app.signals.publish(runId);
          return { kind: 'done' };
        });
      }
      const runIds = providers.map(newRunId);
      const woken = new Set<string>();
      for (const runId of runIds) app.signals.subscribe(runId, () => woken.add(runId));
      for (const [index, runId] of runIds.entries()) {
        expect(await enqueueOne(app, providers[index] ?? '', runId)).toBe(true);
      }
      await until(() => handled.length === 3 && woken.size === 3, 60_000);
    } finally {
      await app.close();
      await server.stop();
    }
  });
});

perhaps('what a signal on Redis carries', () => {
  it('arrives as it was published, only with the secret, and a signal that does not open wakes no listener', async () => {
    const server = await startRedis({ durable: false });
    const rotating = { SIGNING_SECRET: `${'new'.padEnd(32, '.')},${'old'.padEnd(32, '.')}` };
    const [worker, gateway, foreign] = [
      await openQueues({ REDIS_URL: server.url, SIGNING_SECRET: 'old'.padEnd(32, '.') }),
      await openQueues({ REDIS_URL: server.url, ...rotating }),
      await openQueues({ REDIS_URL: server.url, SIGNING_SECRET: 'foreign'.padEnd(32, '.') }),
    ];
    const client = new Redis(server.url);
    const seen: string[] = [];
    client.on('messageBuffer', (_channel: Buffer, message: Buffer) => seen.push(message.toString('latin1')));
    try {
      const runId = newRunId();
      const news = Buffer.from('{"outcome":"succeeded","storedAs":"runs/1/input"}\n');
      const heard: (string | undefined)[] = [];
      gateway.signals.subscribe(runId, (told) => heard.push(told?.toString()));
      await client.subscribe(`mr:news:${runId}`);
      await until(async () => {
        await worker.signals.publish(runId, news);
        return heard.includes(news.toString());
      }, 60_000);
      expect(seen.filter((message) => message.includes('succeeded'))).toEqual([]);

      heard.length = 0;
      await foreign.signals.publish(runId, news);
      const forger = client.duplicate();
      await forger.publish(`mr:news:${runId}`, news);
      // These come after the forged signals, so once they have arrived, the forged ones have too.
      await forger.publish(`mr:news:${runId}`, '');
      forger.disconnect();
      await until(() => heard.includes(undefined), 60_000);
      expect(heard.filter((told) => told !== undefined && told !== news.toString())).toEqual([]);
      expect(heard.filter((told) => told === undefined)).toHaveLength(1);
    } finally {
      client.disconnect();
      await Promise.all([worker, gateway, foreign].map((app) => app.close()));
      await server.stop();
    }
  });
});

failOnLeftovers();
