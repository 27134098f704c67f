import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { holdToInvariants, least, System, type TestServer } from '../harness/faults.js';
import { failOnLeftovers, type Submitted, unending, waitFor } from '../harness/index.js';
import { expectSuccess, heldCalls, roomy, submitMany } from './crowd.js';
import { callsMade } from './metrics.js';
import { queueSizes, onRedis, redisCommand } from './redis-side.js';

const model = 'bfl/flux-2-pro';
/**
 * Long enough that clients whose reconnection delay doubles without a low maximum would oversleep the return.
 */
const awayMs = 14_000;
/** Without a signal, a synchronous call finds its outcome by the gateway's query, once a second. */
const wokenWithinMs = 3_000;

describe.each(onRedis())('%s dies and returns', () => {
  let system: System;
  let redis: TestServer;
  let caller: Awaited<ReturnType<System['caller']>>;

  beforeAll(async () => {
    // One at a time, so that the work spreads over all workers.
    const env = { WORKER_DISPATCH_CONCURRENCY: '1', QUEUE_LOCK_MS: '3000', QUEUE_STALLED_MS: '500' };
    system = await System.start({ transport: 'redis', gateways: 2, workers: 3, env });
    redis = system.redis as TestServer;
    caller = await system.caller(roomy);
  });
  afterAll(() => system.stop());

  it('with its append-only file after 14 s: every worker consumes and every held call listens within 5 s, and no run is lost', async () => {
    const tookMs = await least(5_000, outage);
    process.stdout.write(`all consuming ${Math.round(tookMs)} ms after the return\n`);
    expect(tookMs).toBeLessThan(5_000);
    await holdToInvariants(system);
  });

  it('or loses its scripts and disconnects its clients repeatedly: no run fails, and held calls wake', async () => {
    const runs: Submitted[] = [];
    const wokenMs = await least(wokenWithinMs, async () => {
      const lastMs = performance.now() + 5_000;
      const churning = churn(lastMs);
      const prompt = `[[sim:takes=3000]] held in the churn from ${runs.length}`;
      const held = heldCalls(system, caller, model, 20, prompt);
      while (performance.now() < lastMs) {
        runs.push(...(await submitMany(caller, model, 10, `[[sim:takes=1000]] ${runs.length} churn`)));
        await pause(200);
      }
      const rounds = await churning;
      process.stdout.write(`${runs.length} runs through ${rounds} rounds\n`);
      return Math.max(...(await held));
    });
    expect(wokenMs).toBeLessThan(wokenWithinMs);
    await expectSuccess(system, runs, 60_000);
    await holdToInvariants(system);
  });

  /** Milliseconds from the return of Redis until everything works as before. */
  async function outage(attempt: number): Promise<number> {
    const name = `outage ${attempt}`;
    const runs = await submitMany(caller, model, 30, `${unending} polled during ${name}`);
    // Twice as long, so that they outlast the outage, while the others finish at its end.
    const held = heldCalls(system, caller, model, 5, `[[sim:takes=600000]] held in ${name}`);
    await waitFor(async () => (await generating()) === runs.length + 5, {
      withinMs: 30_000,
      what: 'the runs to be in progress',
    });
    await waitFor(async () => (await queueSizes(redis.url, 'poll')).delayed > 31, {
      withinMs: 20_000,
      what: 'delayed polls',
    });
    await waitFor(async () => (await heldChannels()) === 5, {
      withinMs: 20_000,
      what: 'the held calls to listen',
    });
    await redis.kill('SIGKILL');
    await system.provider.finish();
    const lastMs = performance.now() + awayMs;
    while (performance.now() < lastMs) {
      runs.push(...(await submitMany(caller, model, 1, `${runs.length} away in ${name}`)));
      await pause(500);
    }
    const before = await submissions();
    await redis.restart();
    const returnedAtMs = performance.now();
    const idle = new Set(system.workers.keys());
    await waitFor(
      async () => {
        runs.push(...(await submitMany(caller, model, 10, `${runs.length} back in ${name}`)));
        const now = await submissions();
        for (const index of idle) if ((now[index] ?? 0) > (before[index] ?? 0)) idle.delete(index);
        return idle.size === 0 && (await heldChannels()) === 5;
      },
      { withinMs: 20_000, what: 'each worker to submit and each held call to listen' },
    );
    const tookMs = performance.now() - returnedAtMs;
    await system.provider.finish();
    await expectSuccess(system, runs, 60_000);
    const wokenMs = Math.max(...(await held));
    // A late wake-up counts as not being back.
    return wokenMs < wokenWithinMs ? tookMs : Infinity;
  }

  /** At least eleven rounds, and until `lastMs`. */
  async function churn(lastMs: number): Promise<number> {
    let rounds = 0;
    for (; performance.now() < lastMs || rounds <= 10; rounds += 1) {
      await redisCommand(redis.url, 'SCRIPT', 'FLUSH');
      await redisCommand(redis.url, 'CLIENT', 'KILL', 'TYPE', rounds % 2 === 0 ? 'normal' : 'pubsub');
      await pause(100);
    }
    return rounds;
  }

  async function generating(): Promise<number> {
    return (await system.sql(`SELECT 1 FROM run WHERE stage = 'running'`)).length;
  }

  async function heldChannels(): Promise<number> {
    return ((await redisCommand(redis.url, 'PUBSUB', 'CHANNELS', 'mr:news:*')) as string[]).length;
  }

  const submissions = () => Promise.all(system.workers.map((worker) => callsMade(worker, 'submit')));
});

failOnLeftovers();
