import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Lab } from '../catalog/lab.js';
import { polled, provider, row } from '../catalog/own-rows.js';
import { failOnLeftovers, sharedSystem, type TestCaller, transports } from '../harness/index.js';

describe.each(transports())('a run that exceeds its time budget on %s', (transport) => {
  const system = sharedSystem(transport);
  let upstream: Lab;
  let caller: TestCaller;

  beforeAll(async () => {
    upstream = await Lab.start();
    system.giveKey('late', 'key-of-the-late\n');
    await system.serve({
      'late.yaml': provider('late', upstream.url, polled),
      'late-paint.yaml': row('late/paint', 'v1/paint', 1_000),
    });
    caller = await system.caller();
  });
  afterAll(() => upstream.stop());

  /**
   * Ends the budget while an earlier poll is in flight, so that the next poll is the first that can notice it.
   */
  const runAndOverdue = async (prompt: string, handle: object = {}) => {
    upstream.duringPoll = () =>
      system.sql(
        `UPDATE run SET deadline_at = router_now() - interval '1 minute', handle = handle || $2
         WHERE workspace_id = $1 AND stage = 'running'`,
        [caller.workspaceId, handle],
      );
    const run = await caller.submit('late/paint', JSON.stringify({ prompt }));
    return { run, status: await caller.completed(run) };
  };

  it('is polled once more, and a finished result is fetched and billed', async () => {
    const { run } = await runAndOverdue('finished meanwhile');
    const result = await caller.collect(run);
    expect([result.status, result.bytes.toString()]).toEqual([
      200,
      '{"made of": {"prompt":"finished meanwhile"} }',
    ]);
    const [billed] = await system.sql('SELECT billed_micros::integer AS micros FROM run WHERE id = $1', [
      run.requestId,
    ]);
    expect(billed).toEqual({ micros: 1_000 });
  });

  it('ends as provider_timeout if that poll finds it running', async () => {
    upstream.holding = true;
    const { run, status } = await runAndOverdue('still at work');
    expect(status).toMatchObject({ error_type: 'provider_timeout' });
    expect((await caller.collect(run)).status).toBe(504);
  });

  it('ends as provider_timeout if its handle can no longer be used', async () => {
    const { status } = await runAndOverdue('by another release', { v: 99 });
    expect(status).toMatchObject({ error_type: 'provider_timeout' });
  });
});

failOnLeftovers();
