import { describe, expect, it } from '@jest/globals';
import { createTransport, queueSettings } from '#queue';
import { readSettings } from '#schemas';
import { failOnLeftovers, transports } from '../harness/index.js';
import { consume, deliverOne, Lines, newProvider, newRunId } from './bench.js';
import { startRedisCluster } from './redis-cluster.js';
import { transportSuite } from './suite.js';
import { until } from './until.js';

transportSuite('redis');

const perhaps = transports().includes('redis') ? describe : describe.skip;

perhaps('redis cluster', () => {
  it('carries lanes and wake-ups', async () => {
    const server = await startRedisCluster();
    const settings = readSettings(queueSettings, { REDIS_URL: `${server.url},${server.url}` });
    const transport = await createTransport(settings, new Lines());
    try {
      await until(() => transport.healthy(), 60_000);
      const handled: string[] = [];
      const providers = [newProvider(), newProvider(), newProvider()];
      for (const provider of providers) {
        consume(transport, provider, async (runId) => {
          handled.push(runId);
          await transport.announce(runId);
          return { kind: 'done' };
        });
      }
      const runIds = providers.map(newRunId);
      const woken = new Set<string>();
      for (const runId of runIds) transport.listen(runId, () => woken.add(runId));
      for (const [index, runId] of runIds.entries()) {
        expect(await deliverOne(transport, providers[index] ?? '', runId)).toBe(true);
      }
      await until(() => handled.length === 3 && woken.size === 3, 60_000);
    } finally {
      await transport.close();
      await server.stop();
    }
  });
});

failOnLeftovers();
