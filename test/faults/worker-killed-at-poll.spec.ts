import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, transports } from '../harness/index.js';
import { death, dismissWorkers, quick } from './worker-faults.js';

describe.each(transports().slice(0, 1))('kill -9 after the handle is saved on %s', (transport) => {
  let system: System;

  beforeAll(async () => {
    system = await System.start({ transport, workers: 0, env: quick });
  });
  afterEach(() => dismissWorkers(system));
  afterAll(() => system.stop());

  const audits = async (requestId: string) =>
    (await system.sql(`SELECT outcome FROM audit_record WHERE run_id = $1`, [requestId])).map(
      (row) => row['outcome'],
    );

  it('mid-poll, five times on the same run: polling continues from the handle and the run succeeds', async () => {
    const caller = await system.caller();
    const doomed = await Promise.all(
      Array.from({ length: 5 }, () => system.startWorker({ FAILPOINT: 'poll.afterCall:kill' })),
    );
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"five lives [[sim:tag=five]]"}');
    await Promise.all(doomed.map((worker) => death(system, worker, 60_000)));
    await system.startWorker();

    await caller.completed(run);
    expect((await caller.collect(run)).status).toBe(200);
    const [entry, ...others] = await system.provider.ledger('five');
    expect(others).toEqual([]);
    expect(entry?.pollCount).toBeGreaterThanOrEqual(6);
    await holdToInvariants(system);
    expect(system.apps.filter((app) => app.logs().includes('stalled more than'))).toEqual([]);
  });

  it('after the result was fetched, before the outcome is committed: fetched again, with one outcome', async () => {
    const caller = await system.caller();
    const doomed = await system.startWorker({ FAILPOINT: 'finish.beforeCommit:kill' });
    const run = await caller.submit('fal/flux-dev', '{"prompt":"before [[sim:tag=before]]"}');
    await death(system, doomed);
    expect(await audits(run.requestId)).toEqual([]);
    await system.startWorker();

    await caller.completed(run);
    expect((await caller.collect(run)).status).toBe(200);
    expect(await audits(run.requestId)).toEqual(['succeeded']);
    expect((await system.provider.ledger('before')).length).toBe(1);
    await holdToInvariants(system);
  });

  it('after the outcome was committed, before the job ends: redelivery changes nothing, and a promoted run continues', async () => {
    const caller = await system.caller({ inflightLimit: 1 });
    const doomed = await system.startWorker({ FAILPOINT: 'finish.afterCommit:kill' });
    const run = await caller.submit('fal/flux-dev', '{"prompt":"after [[sim:tag=after]]"}');
    const parked = await caller.submit('fal/flux-dev', '{"prompt":"parked [[sim:tag=after]]"}');
    await death(system, doomed);
    const read = () =>
      system.sql(`SELECT epoch, outcome, completed_at, billed_micros FROM run WHERE id = $1`, [
        run.requestId,
      ]);
    const written = await read();
    expect(written[0]?.['outcome']).toBe('succeeded');
    await system.startWorker();

    await caller.completed(parked);
    await holdToInvariants(system);
    expect(await read()).toEqual(written);
    expect((await caller.collect(run)).status).toBe(200);
    expect(await audits(run.requestId)).toEqual(['succeeded']);
    expect((await system.provider.ledger('after')).length).toBe(2);
  });
});

failOnLeftovers();
