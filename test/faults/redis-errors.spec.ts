import { expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { failOnLeftovers, startRedis } from '../harness/index.js';
import { enqueueAll, newProvider, newRuns, openQueues } from '../transport/bench.js';
import { until } from '../transport/until.js';

it('a Redis that answers with errors is queried five times a second, and is used again when they stop', async () => {
  const server = await startRedis({ durable: false });
  const app = await openQueues({ REDIS_URL: server.url });
  const client = new Redis(server.url);
  const failed = async () =>
    Number(/cmdstat_evalsha:.*failed_calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
  try {
    const provider = newProvider();
    let handled = 0;
    await until(() => app.queues.healthy(), 60_000);
    // A string instead of the expected list.
    await client.set('{mr:webhooks}:webhooks:wait', '');
    const startedAtMs = performance.now();
    app.consume(provider, async () => {
      handled += 1;
      return { kind: 'done' };
    });
    await until(async () => (await failed()) >= 5, 60_000);
    const count = await failed();
    // The first attempts come at once, and the script that looks for stalled jobs fails as well.
    expect(count).toBeLessThan((performance.now() - startedAtMs) / 200 + 10);
    await client.del('{mr:webhooks}:webhooks:wait');
    await enqueueAll(app, newRuns(1, provider));
    await until(() => handled === 1, 60_000);
  } finally {
    client.disconnect();
    await app.close();
    await server.stop();
  }
});

failOnLeftovers();
