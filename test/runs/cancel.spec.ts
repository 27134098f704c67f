import { describe, expect, it } from '@jest/globals';
import {
  failOnLeftovers,
  newTag,
  sharedSystem,
  type Submitted,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

describe.each(transports())('cancellation on %s', (transport) => {
  const system = sharedSystem(transport);

  const running = ({ requestId }: Submitted) =>
    waitFor(
      async () => {
        const [row] = await system.sql<{ stage: string }>('SELECT stage FROM run WHERE id = $1', [requestId]);
        return row?.stage === 'running';
      },
      { withinMs: 60_000, what: 'the run to be in progress' },
    );
  const entries = ({ requestId }: Submitted) =>
    system.sql<{ micros: number }>(
      'SELECT amount_micros::integer AS micros FROM ledger_entry WHERE run_id = $1',
      [requestId],
    );

  it('of a waiting run takes effect before the answer: it is never dispatched and never charged', async () => {
    const caller = await system.caller({ inflightLimit: 1 });
    const [first, parked] = [newTag('ahead'), newTag('parked')];
    const ahead = await caller.submit('bfl/flux-2-pro', `{"prompt":"[[sim:tag=${first}]] ${unending}"}`);
    const run = await caller.submit('bfl/flux-2-pro', `{"prompt":"[[sim:tag=${parked}]]"}`);
    const answer = await caller.cancel(run);
    expect(answer.status).toBe(202);
    expect(answer.json()).toEqual({ request_id: run.requestId, status: 'CANCELLATION_REQUESTED' });
    expect((await caller.status(run)).json()).toMatchObject({
      status: 'COMPLETED',
      error_type: 'client_disconnected',
    });
    const collected = await caller.collect(run);
    expect([collected.status, collected.bucket]).toEqual([409, 'client_disconnected']);
    await running(ahead);
    await system.provider.finish(first);
    await caller.completed(ahead);
    expect(await system.provider.accepted(parked)).toBe(0);
    expect(await entries(run)).toEqual([]);
  });

  it('of a running fal run reaches the provider, and the run ends as cancelled, uncharged', async () => {
    const caller = await system.caller();
    const tag = newTag('stopped');
    const run = await caller.submit('fal/flux-dev', `{"prompt":"${unending} [[sim:tag=${tag}]]"}`);
    await running(run);
    expect((await caller.cancel(run)).status).toBe(202);
    expect(await caller.completed(run)).toMatchObject({ error_type: 'client_disconnected' });
    const [entry] = await system.provider.ledger(tag);
    expect(entry?.cancelAskedAtMs).not.toBeNull();
    expect((await caller.collect(run)).status).toBe(409);
    expect(await entries(run)).toEqual([]);
  });

  it('of a run that has just finished is not sent to a provider that would delete it', async () => {
    const caller = await system.caller();
    const tag = newTag('ended');
    const prompt = `${unending} [[sim:tag=${tag}]]`;
    const run = await caller.submit('runway/gen4_image', `{"promptText":"${prompt}","ratio":"1024:1024"}`);
    await running(run);
    await system.provider.finish(tag);
    await caller.cancel(run);
    expect(await caller.completed(run)).not.toHaveProperty('error_type');
    expect((await caller.collect(run)).status).toBe(200);
  });

  it('of a BFL run, whose API cannot cancel, is only a request: the run completes and is charged', async () => {
    const caller = await system.caller();
    const tag = newTag('unstoppable');
    const run = await caller.submit('bfl/flux-2-pro', `{"prompt":"${unending} [[sim:tag=${tag}]]"}`);
    await running(run);
    expect((await caller.cancel(run)).status).toBe(202);
    expect((await caller.cancel(run)).status).toBe(202);
    await system.provider.finish(tag);
    expect(await caller.completed(run)).not.toHaveProperty('error_type');
    expect((await caller.collect(run)).status).toBe(200);
    const charged = await entries(run);
    expect(charged.filter(({ micros }) => micros < 0)).toHaveLength(1);
  });

  it('of a completed run answers 400 with the other status', async () => {
    const caller = await system.caller();
    const run = await caller.submit('fal/flux-dev', '{"prompt":"done"}');
    await caller.completed(run);
    const answer = await caller.cancel(run);
    expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
    expect(answer.json()).toEqual({ request_id: run.requestId, status: 'ALREADY_COMPLETED' });
  });
});

failOnLeftovers();
