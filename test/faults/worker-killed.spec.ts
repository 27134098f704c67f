import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, transports, waitFor } from '../harness/index.js';

const runCount = 20;
const takesMs = 120_000;

describe.each(transports())('kill -9 of the only worker on %s', (transport) => {
  let system: System;

  beforeAll(async () => {
    system = await System.start({
      transport,
      takesMs,
      env: { QUEUE_LOCK_MS: '4000', QUEUE_STALLED_MS: '2000' },
    });
  });
  afterAll(() => system.stop());

  it('during 20 runs loses none and submits none twice', async () => {
    const caller = await system.caller({ inflightLimit: runCount });
    const runs = await Promise.all(
      Array.from({ length: runCount }, (_, index) =>
        caller.submit(
          index % 2 ? 'fal/flux-dev' : 'bfl/flux-2-pro',
          JSON.stringify({ prompt: `${index} [[sim:tag=killed]]` }),
        ),
      ),
    );
    await waitFor(
      async () => {
        const [row] = await system.sql<{ running: number }>(
          `SELECT count(*)::integer AS running FROM run WHERE stage = 'running'`,
        );
        return row?.running === runCount;
      },
      { withinMs: 30_000, what: 'all runs to be in progress' },
    );
    const [worker] = system.workers;
    if (!worker) throw new Error('no worker');
    await system.kill(worker);
    await system.startWorker();
    await system.provider.advance(takesMs);

    await holdToInvariants(system, 60_000);
    const results = await Promise.all(runs.map((run) => caller.collect(run)));
    expect(results.map((result) => result.status)).toEqual(Array.from({ length: runCount }, () => 200));
    expect(await system.provider.accepted('killed')).toBe(runCount);
  });
});

failOnLeftovers();
