import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { failOnLeftovers, startRedis, transports } from '../harness/index.js';
import { enqueueAll, enqueueOne, newProvider, newRunId, newRuns, openQueues } from './bench.js';
import { startRedisCluster } from './redis-cluster.js';
import { transportSuite } from './suite.js';
import { until } from './until.js';

transportSuite('redis');

const perhaps = transports().includes('redis') ? describe : describe.skip;

perhaps('redis', () => {
  it('takes the next run with the call that puts one off', async () => {
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

perhaps('a redis that answers with errors', () => {
  it('is asked five times a second, and serves again without them', async () => {
    const server = await startRedis({ durable: false });
    const app = await openQueues({ REDIS_URL: server.url });
    const client = new Redis(server.url);
    const failed = async () =>
      Number(/cmdstat_evalsha:.*failed_calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
    try {
      const provider = newProvider();
      let handled = 0;
      await until(() => app.queues.healthy(), 60_000);
      // Not the list that it should be.
      await client.set('{mr:dispatch}:dispatch:wait', '');
      const startedAtMs = performance.now();
      app.consume(provider, async () => {
        handled += 1;
        return { kind: 'done' };
      });
      await until(async () => (await failed()) >= 5, 60_000);
      const count = await failed();
      // The first come at once, and the script that looks for stalled jobs fails as well.
      expect(count).toBeLessThan((performance.now() - startedAtMs) / 200 + 10);
      await client.del('{mr:dispatch}:dispatch:wait');
      await enqueueAll(app, newRuns(1, provider));
      await until(() => handled === 1, 60_000);
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

failOnLeftovers();
