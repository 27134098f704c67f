import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { expectSuccess, roomy } from '../faults/crowd.js';
import { onRedis } from '../faults/redis-side.js';
import { holdToInvariants, System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, type Submitted } from '../harness/index.js';
import { type RedisNodes, startCluster, startSentinels } from './redis-nodes.js';

const model = 'bfl/flux-2-pro';
/** With the pauses of the nodes' own detection: 2 s of silence, a vote, and the clients' new connections. */
const againWithinMs = 30_000;

describe.each(
  onRedis().flatMap(() => [
    { name: 'a cluster of three primaries with replicas', start: startCluster },
    { name: 'a primary under three sentinels', start: startSentinels },
  ]),
)('Redis as $name', ({ name, start }) => {
  let nodes: RedisNodes;
  let system: System;
  let caller: Caller;

  beforeAll(async () => {
    nodes = await start();
    system = await System.start({ transport: 'redis', redisNodes: nodes, gateways: 1, workers: 2 });
    caller = await system.caller(roomy);
  });
  afterAll(async () => {
    await system.stop();
    await nodes.stop();
  });

  it('loses a primary under load: runs are admitted all the while, none is lost and none doubled', async () => {
    const runs: Submitted[] = [];
    let longestMs = 0;
    const lastMs = performance.now() + 20_000;
    let losing: Promise<void> | undefined;
    while (performance.now() < lastMs) {
      const startedAtMs = performance.now();
      runs.push(
        await caller.submit(model, JSON.stringify({ prompt: `${name} ${runs.length} [[sim:takes=500]]` })),
      );
      longestMs = Math.max(longestMs, performance.now() - startedAtMs);
      if (runs.length === 20) losing = nodes.primaries[0]?.lose();
      await pause(50);
    }
    await losing;
    await expectSuccess(system, runs, againWithinMs + 60_000);
    process.stdout.write(
      `${name}: ${runs.length} runs, longest admission ${Math.round(longestMs)} ms, 0 lost, 0 doubled\n`,
    );
    expect(longestMs).toBeLessThan(againWithinMs);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
