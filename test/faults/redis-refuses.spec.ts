import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, holdToInvariants, System, type TestServer } from '../harness/faults.js';
import { failOnLeftovers, unending, waitFor } from '../harness/index.js';
import { expectSuccess, roomy, submitMany } from './crowd.js';
import { metric } from './metrics.js';
import { queueSizes, onRedis, redisCommand } from './redis-side.js';

const model = 'bfl/flux-2-pro';

describe.each(onRedis())('%s answers but rejects writes', () => {
  let system: System;
  let redis: TestServer;
  let caller: Awaited<ReturnType<System['caller']>>;

  beforeAll(async () => {
    // A poll that could not be put back is retried once its lock expires.
    const env = { QUEUE_LOCK_MS: '3000', QUEUE_STALLED_MS: '500' };
    system = await System.start({ transport: 'redis', gateways: 1, workers: 2, env });
    redis = system.redis as TestServer;
    caller = await system.caller(roomy);
  });
  afterAll(() => system.stop());

  it.each([
    [
      'out of memory',
      () => redisCommand(redis.url, 'CONFIG', 'SET', 'maxmemory', '1'),
      () => redisCommand(redis.url, 'CONFIG', 'SET', 'maxmemory', '0'),
    ],
    [
      'a replica after a failover',
      async () => redisCommand(redis.url, 'REPLICAOF', '127.0.0.1', String(await freePort())),
      () => redisCommand(redis.url, 'REPLICAOF', 'NO', 'ONE'),
    ],
  ] as const)(
    '%s: submissions still get 201, the age of overdue outbox rows rises, and all runs drain afterwards',
    async (name, refuse, allow) => {
      const polled = await submitMany(caller, model, 10, `${unending} ${name} polled`);
      await waitFor(async () => (await queueSizes(redis.url, 'poll')).delayed === 10, {
        withinMs: 30_000,
        what: 'delayed polls',
      });
      const caught = await submitMany(caller, model, 10, `${name} caught`);
      await refuse();
      const runs = [...polled, ...caught, ...(await submitMany(caller, model, 20, name))];
      await waitFor(async () => (await oldestOverdueSeconds()) > 4, {
        withinMs: 30_000,
        what: 'outbox rows that are 4 s overdue',
        everyMs: 250,
      });
      await allow();
      await system.provider.finish();
      const startedAtMs = performance.now();
      await expectSuccess(system, runs, 30_000);
      process.stdout.write(`drained ${Math.round(performance.now() - startedAtMs)} ms after ${name}\n`);
      await waitFor(async () => (await oldestOverdueSeconds()) === 0, {
        withinMs: 20_000,
        what: 'nothing overdue',
      });
      await holdToInvariants(system);
    },
  );

  it('out of memory for longer than a minute: workers stay live, because a restart would not help', async () => {
    for (const worker of system.workers) await worker.kill('SIGSTOP');
    const runs = await submitMany(caller, model, 5, 'waiting');
    const connection = { url: redis.url };
    const polls = new Queue('poll', { connection, prefix: '{mr:poll}' });
    await polls.addBulk(runs.map(() => ({ name: 'bfl', data: {}, opts: { jobId: randomUUID() } })));
    await polls.close();
    expect((await queueSizes(redis.url, 'poll')).waiting).toBe(runs.length);
    await redisCommand(redis.url, 'CONFIG', 'SET', 'maxmemory', '1');
    for (const worker of system.workers) await worker.kill('SIGCONT');
    const live = async () => {
      const asked = system.workers.map(({ url }) => fetch(`${url}/health/live`));
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    // A worker counts as stuck if it takes no job for a minute while jobs wait. This is sampled every ten seconds.
    for (let times = 0; times < 16; times += 1) {
      await pause(5_000);
      expect(await live()).toEqual(system.workers.map(() => 200));
    }
    await redisCommand(redis.url, 'CONFIG', 'SET', 'maxmemory', '0');
    await expectSuccess(system, runs, 30_000);
    await holdToInvariants(system);
  });

  async function oldestOverdueSeconds(): Promise<number> {
    const ages = system.workers.map((worker) => metric(worker, 'router_outbox_oldest_age_seconds'));
    return Math.min(...(await Promise.all(ages)));
  }
});

failOnLeftovers();
