import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  failOnLeftovers,
  holdToInvariants,
  System,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

describe.each(transports())('cancellation on %s', (transport) => {
  let system: System;
  let caller: TestCaller;

  beforeAll(async () => {
    system = await System.start({ transport });
    caller = await system.caller({ inflightLimit: 1 });
  });
  afterAll(() => system.stop());

  const running = (requestId: string) =>
    waitFor(
      async () => {
        const [row] = await system.sql<{ stage: string }>('SELECT stage FROM run WHERE id = $1', [requestId]);
        return row?.stage === 'running';
      },
      { withinMs: 20_000, what: 'the generation to run' },
    );

  it('of a waiting run takes effect before the answer: never dispatched, never charged', async () => {
    const ahead = await caller.submit('bfl/flux-2-pro', `{"prompt":"ahead ${unending}"}`);
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"parked [[sim:tag=parked]]"}');
    const answer = await caller.cancel(run);
    expect(answer.status).toBe(202);
    expect(answer.json()).toEqual({ request_id: run.requestId, status: 'CANCELLATION_REQUESTED' });
    expect((await caller.status(run)).json()).toMatchObject({
      status: 'COMPLETED',
      error_type: 'client_disconnected',
    });
    const collected = await caller.collect(run);
    expect([collected.status, collected.bucket]).toEqual([409, 'client_disconnected']);
    expect((await system.partner.peaks('parked')).accepted).toBe(0);
    expect(await system.sql('SELECT 1 FROM ledger_entry WHERE run_id = $1', [run.requestId])).toHaveLength(0);
    await running(ahead.requestId);
    await system.partner.finish();
    await caller.completed(ahead);
  });

  it('of a running fal run reaches the partner, and the run ends as a cancelled one, uncharged', async () => {
    const run = await caller.submit('fal/flux-dev', `{"prompt":"${unending} [[sim:tag=stopped]]"}`);
    await running(run.requestId);
    expect((await caller.cancel(run)).status).toBe(202);
    expect(await caller.completed(run)).toMatchObject({ error_type: 'client_disconnected' });
    const [entry] = await system.partner.ledger('stopped');
    expect(entry?.cancelAskedAtMs).not.toBeNull();
    expect((await caller.collect(run)).status).toBe(409);
    expect(await system.sql('SELECT 1 FROM ledger_entry WHERE run_id = $1', [run.requestId])).toHaveLength(0);
  });

  it('of a BFL run, which has no cancel call, is an ask: the run completes and is charged', async () => {
    const run = await caller.submit('bfl/flux-2-pro', `{"prompt":"${unending} unstoppable"}`);
    await running(run.requestId);
    expect((await caller.cancel(run)).status).toBe(202);
    expect((await caller.cancel(run)).status).toBe(202);
    await system.partner.finish();
    expect(await caller.completed(run)).not.toHaveProperty('error_type');
    expect((await caller.collect(run)).status).toBe(200);
    expect(
      await system.sql('SELECT 1 FROM ledger_entry WHERE run_id = $1 AND amount_micros < 0', [run.requestId]),
    ).toHaveLength(1);
  });

  it('of a completed run answers 400 with the other status', async () => {
    const run = await caller.submit('fal/flux-dev', '{"prompt":"done"}');
    await caller.completed(run);
    const answer = await caller.cancel(run);
    expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
    expect(answer.json()).toEqual({ request_id: run.requestId, status: 'ALREADY_COMPLETED' });
  });

  it('keeps every invariant', () => holdToInvariants(system));
});

failOnLeftovers();
