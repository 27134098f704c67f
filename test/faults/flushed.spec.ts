import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, transports, unending, waitFor } from '../harness/index.js';

describe.each(transports().filter((transport) => transport === 'redis'))('FLUSHALL on %s', (transport) => {
  let system: System;
  let redis: Redis;

  beforeAll(async () => {
    // Each poll is rejected once, and the provider's pause must not affect the other polls.
    system = await System.start({
      transport,
      takesMs: 300,
      env: { PROVIDER_MAX_PAUSE_MS: '10', QUEUE_COMMAND_TIMEOUT_MS: '5000' },
    });
    redis = new Redis(system.redis?.url ?? '');
  });
  afterAll(async () => {
    redis.disconnect();
    await system.stop();
  });

  it('with 20 waiting dispatches and 20 delayed polls loses none of the 40 runs', async () => {
    const caller = await system.caller({ inflightLimit: 100 });
    const submit = (count: number, model: string, prompt: string) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          caller.submit(model, JSON.stringify({ prompt: `${index} [[sim:tag=flushed]] ${prompt}` })),
        ),
      );
    // The provider requests a pause at every poll, so the polls stay delayed for long enough to be counted.
    const polled = await submit(20, 'bfl/flux-2-pro', `${unending} [[sim:poll_429=1]] [[sim:retry_after=8]]`);
    const [worker] = system.workers;
    if (!worker) throw new Error('no worker');
    const delayed = () => redis.zcard('{mr:poll}:poll:delayed');
    await waitFor(
      async () => {
        if ((await delayed()) !== 20) return false;
        // Counted again while no worker can take one.
        await worker.kill('SIGSTOP');
        if ((await delayed()) === 20) return true;
        await worker.kill('SIGCONT');
        return false;
      },
      { withinMs: 30_000, what: '20 delayed polls', everyMs: 5 },
    );
    await system.kill(worker);
    const waiting = await submit(20, 'bfl/flux-2-pro', 'waiting');
    expect(await redis.llen('mr:wake-ups')).toBeGreaterThan(0);
    expect(await delayed()).toBe(20);
    await system.provider.finish();
    await redis.flushall();
    await system.startWorker();

    await holdToInvariants(system, 60_000);
    const results = await Promise.all([...polled, ...waiting].map((run) => caller.collect(run)));
    expect(results.map((result) => result.status)).toEqual(Array.from({ length: 40 }, () => 200));
    expect(await system.provider.accepted('flushed')).toBe(40);
  });
});

failOnLeftovers();
