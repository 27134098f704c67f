import { describe, expect, it } from '@jest/globals';
import { failOnLeftovers, transports } from '../harness/index.js';
import { enqueueOne, newProvider, newRunId, openQueues } from './bench.js';
import { startRedisCluster } from './redis-cluster.js';
import { transportSuite } from './suite.js';
import { until } from './until.js';

transportSuite('redis');

const perhaps = transports().includes('redis') ? describe : describe.skip;

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
