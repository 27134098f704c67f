import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, holdToInvariants, least, System, type TestServer } from '../harness/faults.js';
import { failOnLeftovers, type Submitted, waitFor } from '../harness/index.js';
import { expectSuccess, roomy, submitMany } from './crowd.js';
import { onRedis } from './redis-side.js';

const model = 'bfl/flux-2-pro';

describe.each(onRedis())('%s is down', () => {
  let system: System;
  let redis: TestServer;
  let caller: Awaited<ReturnType<System['caller']>>;

  beforeAll(async () => {
    system = await System.start({ transport: 'redis', gateways: 0, workers: 0 });
    redis = system.redis as TestServer;
    caller = await system.caller(roomy);
  });
  afterAll(() => system.stop());

  it('at the start: gateway and worker start, report their state, and recover without a restart', async () => {
    await redis.kill('SIGKILL');
    const gateway = await system.startGateway();
    const worker = await startWithoutReadiness();
    expect(await probe(gateway, 'ready')).toBe(200);
    await waitFor(async () => (await probe(worker, 'live')) === 200, {
      withinMs: 20_000,
      what: 'a live worker',
    });
    expect(await probe(worker, 'ready')).toBe(503);
    const runs = await submitMany(caller, model, 5, 'before the first contact');
    expect(await probe(worker, 'ready')).toBe(503);

    await redis.restart();
    await waitFor(async () => (await probe(worker, 'ready')) === 200, {
      withinMs: 20_000,
      what: 'readiness',
    });
    await expectSuccess(system, runs, 30_000);
    expect([gateway.child.exitCode, worker.child.exitCode]).toEqual([null, null]);
    await holdToInvariants(system);
  });

  it.each([
    ['gone', 'SIGKILL', () => redis.restart()],
    ['frozen', 'SIGSTOP', () => redis.kill('SIGCONT')],
  ] as const)(
    'at a submission, %s: 201 in time, and the runs drain within 30 s of its return',
    async (state, signal, bringBack) => {
      await redis.kill(signal);
      const runs: Submitted[] = [];
      const submitMs = async () => {
        const startedAtMs = performance.now();
        runs.push(...(await submitMany(caller, model, 1, `${state} ${runs.length}`)));
        return performance.now() - startedAtMs;
      };
      // Half of the calls must be prompt and none may hang; `used` is the larger share of the two limits.
      const used = await least(1, async () => {
        const tookMs: number[] = [];
        for (let index = 0; index < 10; index += 1) tookMs.push(Math.round(await submitMs()));
        process.stdout.write(`submissions with Redis ${state}: ${tookMs.join(', ')} ms\n`);
        const median = tookMs.toSorted((one, other) => one - other)[5] ?? Infinity;
        return Math.max(median / 600, Math.max(...tookMs) / 2_000);
      });
      expect(used).toBeLessThan(1);
      await bringBack();
      const startedAtMs = performance.now();
      await expectSuccess(system, runs, 30_000);
      process.stdout.write(`drained ${Math.round(performance.now() - startedAtMs)} ms after the return\n`);
      await holdToInvariants(system);
    },
  );

  /** `System.startWorker` waits for readiness, which cannot be reached here. */
  async function startWithoutReadiness(): Promise<App> {
    const worker = await system.spawnWorker();
    await worker.listening;
    return worker;
  }
});

async function probe(app: App, name: 'live' | 'ready'): Promise<number> {
  const response = await fetch(`${app.url}/health/${name}`, { signal: AbortSignal.timeout(20_000) });
  await response.body?.cancel();
  return response.status;
}

failOnLeftovers();
