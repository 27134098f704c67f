import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, transports, waitFor } from '../harness/index.js';
import { metric } from './metrics.js';
import { death, dismissWorkers, quick, reached } from './worker-faults.js';

/** Less than the 30 s after which the reconciler checks a polled run. */
const soonMs = 20_000;

(transports().includes('redis') ? describe : describe.skip)('a first poll that was never delivered', () => {
  let system: System;
  let caller: Awaited<ReturnType<System['caller']>>;

  beforeAll(async () => {
    system = await System.start({ transport: 'redis', workers: 0, env: quick });
    caller = await system.caller();
  });
  afterEach(() => dismissWorkers(system));
  afterAll(() => system.stop());

  it('because the worker was killed after it had saved the handle, is delivered by the next worker', async () => {
    const doomed = await system.startWorker({ FAILPOINT: 'dispatch.afterHandle:kill' });
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"orphan [[sim:tag=orphan]]"}');
    await death(system, doomed);
    await system.startWorker();

    expect(await caller.completed(run, soonMs)).not.toHaveProperty('error_type');
    expect((await system.provider.ledger('orphan')).length).toBe(1);
    await holdToInvariants(system);
  });

  it('because Redis died before it was read, is delivered by the reconciler as soon as Redis is back', async () => {
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"unheard [[sim:tag=unheard]]"}');
    const place = `dispatch.afterSubmit(${run.requestId})`;
    const worker = await system.startWorker({
      FAILPOINT: `${place}:pause=1000`,
      // Long enough that the dispatch does not count as abandoned, so that only the reconciler can help.
      QUEUE_LOCK_MS: '30000',
    });
    await reached(worker, place);
    await system.redis?.kill('SIGSTOP');
    await waitFor(
      async () =>
        (
          await system.sql(
            `SELECT 1 FROM run JOIN outbox ON run_id = id
             WHERE id = $1 AND stage = 'running' AND due_at < clock_timestamp() + interval '10 seconds'`,
            [run.requestId],
          )
        ).length === 1,
      { withinMs: 30_000, what: 'the poll to be due for the reconciler' },
    );
    await system.redis?.kill('SIGKILL');
    await system.redis?.restart();

    expect(await caller.completed(run, soonMs)).not.toHaveProperty('error_type');
    expect(await metric(worker, 'router_reconciler_requeued_total')).toBeGreaterThan(0);
    expect((await system.provider.ledger('unheard')).length).toBe(1);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
