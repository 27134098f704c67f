import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import {
  failOnLeftovers,
  holdToInvariants,
  type Submitted,
  System,
  type TestServer,
  waitFor,
} from '../harness/index.js';
import { expectSuccess, heldCalls, roomy, submitMany } from './crowd.js';
import { callsMade } from './metrics.js';
import { laneSizes, onRedis, redisCommand } from './redis-side.js';

const model = 'bfl/flux-2-pro';
/** Long enough that clients whose reconnection pauses double without a low ceiling would sleep past the return. */
const awayMs = 14_000;
/** Without an announcement a held call finds its outcome by a query that its gateway makes once a second. */
const wokenWithinMs = 3_000;

describe.each(onRedis())('%s dies and comes back', () => {
  let system: System;
  let redis: TestServer;
  let caller: Awaited<ReturnType<System['caller']>>;

  beforeAll(async () => {
    // One at a time, so that the work is spread over all workers.
    const env = { WORKER_DISPATCH_CONCURRENCY: '1', QUEUE_LOCK_MS: '3000', QUEUE_STALLED_MS: '500' };
    system = await System.start({ transport: 'redis', gateways: 2, workers: 3, env });
    redis = system.redis as TestServer;
    caller = await system.caller(roomy);
  }, 60_000);
  afterAll(() => system.stop());

  it('from its append-only file after 14 s: every worker consumes and every held call listens within 5 s, and no run is lost', async () => {
    const runs = await submitMany(caller, model, 30, '[[sim:takes=10000]] polled during the outage');
    const held = heldCalls(system, caller, model, 5, '[[sim:takes=22000]] held');
    await waitFor(async () => (await laneSizes(redis.url, 'poll')).delayed > 31, {
      withinMs: 10_000,
      what: 'polls that wait',
    });
    await waitFor(async () => (await heldChannels()) === 5, {
      withinMs: 10_000,
      what: 'the held calls to listen',
    });
    await redis.kill('SIGKILL');
    const lastMs = performance.now() + awayMs;
    while (performance.now() < lastMs) {
      runs.push(...(await submitMany(caller, model, 1, `${runs.length} away`)));
      await pause(500);
    }
    const before = await submissions();
    await redis.restart();
    const returnedAtMs = performance.now();
    const idle = new Set(system.workers.keys());
    await waitFor(
      async () => {
        runs.push(...(await submitMany(caller, model, 10, `${runs.length} back`)));
        const now = await submissions();
        for (const index of idle) if ((now[index] ?? 0) > (before[index] ?? 0)) idle.delete(index);
        return idle.size === 0 && (await heldChannels()) === 5;
      },
      { withinMs: 5_000, what: 'each worker to submit and each held call to listen' },
    );
    process.stdout.write(
      `all consuming ${Math.round(performance.now() - returnedAtMs)} ms after the return\n`,
    );
    expect(performance.now() - returnedAtMs).toBeLessThan(5_000);
    await expectSuccess(system, runs, 60_000);
    expect(Math.max(...(await held))).toBeLessThan(wokenWithinMs);
    process.stdout.write(`all done ${Math.round(performance.now() - returnedAtMs)} ms after the return\n`);
    await holdToInvariants(system);
  }, 120_000);

  it('or forgets its scripts and cuts its clients again and again: no run fails, and held calls wake', async () => {
    const lastMs = performance.now() + 5_000;
    const runs: Submitted[] = [];
    const churning = churn(lastMs);
    const held = heldCalls(system, caller, model, 20, '[[sim:takes=3000]] held in the churn');
    while (performance.now() < lastMs) {
      runs.push(...(await submitMany(caller, model, 10, `[[sim:takes=1000]] ${runs.length} churn`)));
      await pause(200);
    }
    expect(Math.max(...(await held))).toBeLessThan(wokenWithinMs);
    const rounds = await churning;
    process.stdout.write(`${runs.length} runs through ${rounds} rounds\n`);
    expect(rounds).toBeGreaterThan(10);
    await expectSuccess(system, runs, 60_000);
    await holdToInvariants(system);
  }, 120_000);

  async function churn(lastMs: number): Promise<number> {
    let rounds = 0;
    for (; performance.now() < lastMs; rounds += 1) {
      await redisCommand(redis.url, 'SCRIPT', 'FLUSH');
      await redisCommand(redis.url, 'CLIENT', 'KILL', 'TYPE', rounds % 2 === 0 ? 'normal' : 'pubsub');
      await pause(100);
    }
    return rounds;
  }

  async function heldChannels(): Promise<number> {
    return ((await redisCommand(redis.url, 'PUBSUB', 'CHANNELS', 'mr:run:*')) as string[]).length;
  }

  const submissions = () => Promise.all(system.workers.map((worker) => callsMade(worker, 'submit')));
});

failOnLeftovers();
