import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, type Submitted, transports, waitFor } from '../harness/index.js';
import { counted, metric } from './metrics.js';
import { dismissWorkers, quickLeases, reached, said } from './worker-faults.js';

const lateOutcome = 'an outcome arrived too late';
const lateHandle = 'a handle arrived too late';

describe.each(transports().slice(0, 1))(
  'a worker that sleeps past its lock and its lease on %s',
  (transport) => {
    let system: System;
    let caller: Awaited<ReturnType<System['caller']>>;

    beforeAll(async () => {
      system = await System.start({ transport, workers: 0, env: quickLeases });
      caller = await system.caller();
    });
    afterEach(() => dismissWorkers(system));
    afterAll(() => system.stop());

    const submit = (tag: string, model = 'bfl/flux-2-pro') =>
      caller.submit(model, JSON.stringify({ prompt: `sleeper [[sim:tag=${tag}]]` }));
    const accepted = async (tag: string) => (await system.provider.ledger(tag)).length;
    /** Everything that is written about a run when it ends. */
    const written = (run: Submitted) =>
      system.sql(
        `SELECT run.epoch, run.stage, run.outcome, run.bucket, run.completed_at, run.billed_micros, audit_record.completed_at AS audited,
         (SELECT count(*) FROM ledger_entry WHERE run_id = run.id) AS entries
       FROM run JOIN audit_record ON audit_record.run_id = run.id WHERE run.id = $1`,
        [run.requestId],
      );
    const restOf = (run: Submitted) => caller.completed(run, 40_000).then((status) => status['error_type']);

    it('frozen with a poll and submissions in flight: the other worker’s outcomes stand', async () => {
      const tags = ['claimed', 'announced', 'submitted', 'polled'] as const;
      const runs = await Promise.all(tags.map((tag) => submit(`frozen-${tag}`)));
      const [claimed, announced, submitted, polled] = runs as [Submitted, Submitted, Submitted, Submitted];
      const places = [
        `dispatch.afterClaim(${claimed.requestId})`,
        `dispatch.beforeSubmit(${announced.requestId})`,
        `dispatch.afterSubmit(${submitted.requestId})`,
        `finish.beforeCommit(${polled.requestId})`,
      ];
      const sleeper = await system.startWorker({
        // The last of them is reached, and the worker frozen, long before the first pause ends.
        FAILPOINT: places.map((place) => `${place}:pause=12000`).join(','),
      });
      await Promise.all(places.map((place) => reached(sleeper, place)));
      await sleeper.kill('SIGSTOP');
      const other = await system.startWorker();

      expect(await Promise.all(runs.map(restOf))).toEqual([
        undefined,
        'internal_error',
        'internal_error',
        undefined,
      ]);
      expect(await counted(other, 'router_dispatch_unknown_total', 2)).toBe(2);
      const before = await Promise.all(runs.map(written));
      await sleeper.kill('SIGCONT');
      await Promise.all([said(sleeper, lateOutcome), said(sleeper, lateHandle)]);
      // The stop succeeds only when every handler has returned.
      expect(await sleeper.stop()).toBe(0);
      system.forget(sleeper);

      expect(await Promise.all(runs.map(written))).toEqual(before);
      expect(await Promise.all(tags.map((tag) => accepted(`frozen-${tag}`)))).toEqual([1, 0, 1, 1]);
      await holdToInvariants(system);
    });

    it('with its event loop blocked: the same holds, its probes are silent, and its lag shows', async () => {
      const blockMs = 9000;
      const [polled, submitted] = [await submit('blocked-polled'), await submit('blocked-submitted')];
      const place = `finish.beforeCommit(${polled.requestId})`;
      const first = `poll.beforeCall(${polled.requestId})`;
      const other = `dispatch.afterSubmit(${submitted.requestId})`;
      const sleeper = await system.startWorker({
        // The first is delayed until the second is reached, whose pause outlasts the start of the block.
        FAILPOINT: `${first}:pause=4000,${other}:pause=12000,${place}:block=${blockMs}`,
      });
      await Promise.all([reached(sleeper, first), reached(sleeper, other)]);
      await reached(sleeper, place);
      await expect(live(sleeper)).rejects.toThrow(/timeout/i);
      // Freeze the worker for as long as the other one needs.
      await sleeper.kill('SIGSTOP');
      await system.startWorker();

      expect(await Promise.all([restOf(polled), restOf(submitted)])).toEqual([undefined, 'internal_error']);
      const before = await Promise.all([written(polled), written(submitted)]);
      await sleeper.kill('SIGCONT');
      await Promise.all([said(sleeper, lateOutcome), said(sleeper, lateHandle)]);

      await waitFor(async () => (await live(sleeper)) === 200, {
        withinMs: 20_000,
        what: 'the worker’s probe to answer',
      });
      expect(await metric(sleeper, 'router_nodejs_eventloop_lag_max_seconds')).toBeGreaterThan(
        blockMs / 1000 - 1,
      );
      expect(await Promise.all([written(polled), written(submitted)])).toEqual(before);
      expect([await accepted('blocked-polled'), await accepted('blocked-submitted')]).toEqual([1, 1]);
      await holdToInvariants(system);
    });
  },
);

async function live(worker: App): Promise<number> {
  return (await fetch(`${worker.url}/health/live`, { signal: AbortSignal.timeout(1_000) })).status;
}

failOnLeftovers();
