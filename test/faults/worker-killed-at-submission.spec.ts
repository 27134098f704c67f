import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, transports } from '../harness/index.js';
import { counted } from './metrics.js';
import { death, dismissWorkers, quickLeases } from './worker-faults.js';

describe.each(transports().slice(0, 1))('kill -9 at a submission on %s', (transport) => {
  let system: System;
  let caller: Awaited<ReturnType<System['caller']>>;

  beforeAll(async () => {
    system = await System.start({ transport, workers: 0, env: quickLeases });
    caller = await system.caller();
  });
  afterEach(() => dismissWorkers(system));
  afterAll(() => system.stop());

  it.each([
    { place: 'dispatch.afterSubmit', when: 'accepted, but its handle not saved', accepted: 1 },
    { place: 'dispatch.beforeSubmit', when: 'announced, not a byte sent', accepted: 0 },
  ])(
    '$when: the run ends as internal_error with an unknown outcome, and is not submitted again',
    async ({ place, accepted }) => {
      const doomed = await system.startWorker({ FAILPOINT: `${place}:kill` });
      const body = JSON.stringify({ prompt: `killed [[sim:tag=${place}]]` });
      const run = await caller.submit('fal/flux-dev', body, { headers: { 'idempotency-key': place } });
      await death(system, doomed);
      const finder = await system.startWorker();

      const status = await caller.completed(run);
      expect(status['error_type']).toBe('internal_error');
      const result = await caller.collect(run);
      expect(result.status).toBe(500);
      expect(String(result.json()['detail'])).toMatch(/outcome unknown/i);
      expect(await counted(finder, 'router_dispatch_unknown_total', 1)).toBe(1);
      expect((await system.provider.ledger(place)).length).toBe(accepted);
      expect(await system.sql(`SELECT key FROM idempotency_key WHERE run_id = $1`, [run.requestId])).toEqual([
        { key: place },
      ]);
      expect(
        await system.sql(`SELECT amount_micros FROM ledger_entry WHERE run_id = $1`, [run.requestId]),
      ).toEqual([]);
      await holdToInvariants(system);
    },
  );
});

failOnLeftovers();
