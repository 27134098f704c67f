import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { roomy } from '../faults/crowd.js';
import { onRedis } from '../faults/redis-side.js';
import { System } from '../harness/faults.js';
import { failOnLeftovers } from '../harness/index.js';
import { expectLossless } from './loss-under-load.js';
import { type RedisNodes, startCluster, startSentinels } from './redis-nodes.js';

describe.each(
  onRedis().flatMap(() => [
    { name: 'a cluster of three primaries with replicas', start: startCluster },
    { name: 'a primary under three sentinels', start: startSentinels },
  ]),
)('Redis as $name', ({ name, start }) => {
  let nodes: RedisNodes;
  let system: System;

  beforeAll(async () => {
    nodes = await start();
    system = await System.start({ transport: 'redis', redisNodes: nodes, gateways: 1, workers: 2 });
  });
  afterAll(async () => {
    await system.stop();
    await nodes.stop();
  });

  it('loses a primary under load, and runs are admitted throughout, with none lost or submitted twice', async () => {
    const refusals = await expectLossless(system, {
      name,
      caller: await system.caller(roomy),
      lose: async () => nodes.primaries[0]?.lose(),
    });
    expect(refusals).toBe(0);
  });
});

failOnLeftovers();
