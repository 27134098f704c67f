import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, type TestCaller, transports, unending, waitFor } from '../harness/index.js';
import { metric } from './metrics.js';

const path = '/v2/models/bfl/flux-2-pro';

// These tests wait for deadlines, freeze a worker, and read gateways' metrics. All other guarantees of
// synchronous runs are in test/runs/sync.spec.ts.
describe.each(transports())('a synchronous call on %s', (transport) => {
  let system: System;
  let caller: TestCaller;
  /** Has a short deadline, so tests address it directly. */
  let hasty: App;

  beforeAll(async () => {
    system = await System.start({ transport, gateways: 2 });
    hasty = await system.startGateway({ SYNC_DEADLINE_MS: '6000' });
    system.forget(hasty);
    caller = await system.caller({ inflightLimit: 100 });
  });
  afterAll(() => system.stop());

  const keyed =
    (key: string, body: string) =>
    (by = '') =>
      caller.call('POST', `${by}${path}`, { body, headers: { 'idempotency-key': key } });
  const accepted = (tag: string) => system.provider.accepted(tag);

  it('that reaches its deadline answers 504 with Retry-After once the run is submitted, and the retry collects it', async () => {
    const copied = keyed('late', `{"prompt":"[[sim:tag=late]] ${unending}"}`);
    const lost = keyed('lost', `{"prompt":"[[sim:tag=lost]] ${unending} [[sim:asset_404]]"}`);
    for (const first of await Promise.all([copied(hasty.url), lost(hasty.url)])) {
      expect([first.status, first.bucket]).toEqual([504, 'deadline_exceeded']);
      expect(first.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    await system.provider.finish();
    const [second, lostSecond] = await Promise.all([copied(), lost()]);
    for (const collected of [second, lostSecond]) {
      expect([collected.status, collected.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    }
    // A replay has the same signed URL of the copied asset; the other asset keeps the provider's URL.
    const [third, lostThird] = await Promise.all([
      copied(),
      waitFor(
        async () => {
          const answer = await lost();
          return answer.status !== 200 && answer;
        },
        { withinMs: 20_000, what: 'the delivery to be recorded' },
      ),
    ]);
    expect([third.status, third.bytes.equals(second.bytes)]).toEqual([200, true]);
    expect([lostThird.status, lostThird.bucket]).toEqual([409, 'invalid_input']);
    expect(await Promise.all(['late', 'lost'].map(accepted))).toEqual([1, 1]);
  });

  it('without a key is withdrawn if its run still waits at the deadline: no submission, no charge', async () => {
    const busy = await system.caller({ inflightLimit: 1 });
    const [worker] = system.workers;
    if (!worker) throw new Error('no worker');
    await worker.kill('SIGSTOP');
    const answer = await busy.call('POST', `${hasty.url}${path}`, {
      body: '{"prompt":"[[sim:tag=withdrawn]]"}',
    });
    await worker.kill('SIGCONT');
    expect([answer.status, answer.bucket, answer.headers.has('retry-after')]).toEqual([
      504,
      'deadline_exceeded',
      false,
    ]);
    expect(
      await system.sql('SELECT 1 FROM run WHERE workspace_id = $1 AND outcome = $2', [
        busy.workspaceId,
        'cancelled',
      ]),
    ).toHaveLength(1);
    await holdToInvariants(system);
    expect(await accepted('withdrawn')).toBe(0);
  });

  // Only gateway-wide metrics tell that all of the calls are held when the run ends.
  it('sent 100 times with one key to two gateways: all but the first answer say that they joined a run', async () => {
    const answering = Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        caller.call('POST', path, {
          body: `{"prompt":"[[sim:tag=crowd]] ${unending}"}`,
          headers: { 'idempotency-key': 'crowd' },
          gateway: index % 2,
        }),
      ),
    );
    const held = () => Promise.all(system.gateways.map((gateway) => metric(gateway, 'router_held_calls')));
    await waitFor(async () => (await held()).every((calls) => calls === 50), {
      withinMs: 20_000,
      what: 'all calls to be held',
    });
    await waitFor(async () => (await accepted('crowd')) === 1, { withinMs: 20_000, what: 'the submission' });
    await system.provider.finish();
    const answers = await answering;
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.bytes.toString())).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.has('idempotent-replayed'))).toHaveLength(99);
    expect(await accepted('crowd')).toBe(1);
  });

  it('keeps every invariant', () => holdToInvariants(system));
});

failOnLeftovers();
