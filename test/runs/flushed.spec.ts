import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { failOnLeftovers, holdToInvariants, System, transports, waitFor } from '../harness/index.js';

describe.each(transports().filter((transport) => transport === 'redis'))('FLUSHALL on %s', (transport) => {
  let system: System;
  let redis: Redis;

  beforeAll(async () => {
    // Each poll is refused once: the pauses of the others are not what is looked at here.
    system = await System.start({ transport, takesMs: 300, env: { PROVIDER_LANE_PAUSE_MS: '10' } });
    redis = new Redis(system.redis?.url ?? '');
  }, 60_000);
  afterAll(async () => {
    redis.disconnect();
    await system.stop();
  });

  it('with 20 waiting dispatches and 20 delayed polls loses none of the 40', async () => {
    const caller = await system.caller({ inflightLimit: 100 });
    const submit = (count: number, model: string, prompt: string) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          caller.submit(model, JSON.stringify({ prompt: `${index} [[sim:tag=flushed]] ${prompt}` })),
        ),
      );
    // The partner asks for patience at every poll, so the polls lie delayed for long enough to be counted.
    const polled = await submit(
      20,
      'bfl/flux-2-pro',
      '[[sim:takes=8000]] [[sim:poll_429=1]] [[sim:retry_after=8]]',
    );
    await waitFor(async () => (await redis.zcard('{mr:poll}:poll:delayed')) === 20, {
      withinMs: 20_000,
      what: '20 delayed polls',
      everyMs: 5,
    });
    const [worker] = system.workers;
    if (!worker) throw new Error('no worker');
    await system.kill(worker);
    const waiting = await submit(20, 'bfl/flux-2-pro', 'waiting');
    expect(await redis.llen('{mr:dispatch-bfl}:dispatch-bfl:wait')).toBe(20);
    expect(await redis.zcard('{mr:poll}:poll:delayed')).toBe(20);
    await redis.flushall();
    await system.startWorker();

    await holdToInvariants(system, 60_000);
    const results = await Promise.all([...polled, ...waiting].map((run) => caller.collect(run)));
    expect(results.map((result) => result.status)).toEqual(Array.from({ length: 40 }, () => 200));
    expect((await system.partner.peaks('flushed')).accepted).toBe(40);
  });
});

failOnLeftovers();
