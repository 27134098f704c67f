import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { metric } from '../faults/metrics.js';
import {
  type App,
  failOnLeftovers,
  holdToInvariants,
  System,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const path = '/v2/models/bfl/flux-2-pro';

describe.each(transports())('a synchronous run on %s', (transport) => {
  let system: System;
  let caller: TestCaller;
  /** Reached by its own address only, because it holds no call for long. */
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
  const accepted = async (tag: string) => (await system.partner.peaks(tag)).accepted;
  const submitted = (tag: string, runs = 1) =>
    waitFor(async () => (await accepted(tag)) === runs, { withinMs: 20_000, what: `${tag} at the partner` });

  it('answers with the partner’s own bytes and content type', async () => {
    const answer = await caller.call('POST', path, { body: '{"prompt":"sync"}' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.json()).toMatchObject({ status: 'Ready' });
    const [row] = await system.sql<{ body: Buffer }>(
      `SELECT body FROM payload JOIN run ON run.id = run_id WHERE kind = 'output' AND run.mode = 'sync' LIMIT 1`,
    );
    expect(row?.body.equals(answer.bytes)).toBe(true);
  });

  it('answers a failure as its bucket', async () => {
    const refused = await caller.call('POST', path, { body: '{"prompt":"[[sim:policy_output]]"}' });
    expect([refused.status, refused.bucket]).toEqual([400, 'content_policy_violation']);
    const rejected = await caller.call('POST', '/v2/models/fal/flux-dev', {
      body: '{"prompt":"[[sim:field_error]]"}',
    });
    expect([rejected.status, rejected.bucket]).toEqual([422, 'invalid_input']);
    expect(rejected.json()['detail']).toEqual([
      expect.objectContaining({ loc: expect.arrayContaining(['body']) }),
    ]);
  });

  it('with one key 100 times at once on two gateways is one submission and 100 equal answers', async () => {
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
    await submitted('crowd');
    await system.partner.finish();
    const answers = await answering;
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.bytes.toString())).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.has('idempotent-replayed'))).toHaveLength(0);
    expect(await accepted('crowd')).toBe(1);
  });

  it('reached its bound: 504 with Retry-After while a handle is held, and the retry collects that generation', async () => {
    const copied = keyed('late', `{"prompt":"[[sim:tag=late]] ${unending}"}`);
    const lost = keyed('lost', `{"prompt":"[[sim:tag=lost]] ${unending} [[sim:asset_404]]"}`);
    for (const first of await Promise.all([copied(hasty.url), lost(hasty.url)])) {
      expect([first.status, first.bucket]).toEqual([504, 'deadline_exceeded']);
      expect(first.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    await system.partner.finish();
    const [second, lostSecond] = await Promise.all([copied(), lost()]);
    for (const collected of [second, lostSecond]) {
      expect([collected.status, collected.headers.has('idempotent-replayed')]).toEqual([200, false]);
    }
    // The asset that was copied is repeated with the same URL, signed once; the other one is the partner's to keep.
    const [third, lostThird] = await Promise.all([
      waitFor(
        async () => {
          const answer = await copied();
          return answer.headers.has('idempotent-replayed') && answer;
        },
        { withinMs: 20_000, what: 'the delivery to be noted' },
      ),
      waitFor(
        async () => {
          const answer = await lost();
          return answer.status !== 200 && answer;
        },
        { withinMs: 20_000, what: 'the delivery to be noted' },
      ),
    ]);
    expect([third.status, third.bytes.equals(second.bytes)]).toEqual([200, true]);
    expect([lostThird.status, lostThird.bucket]).toEqual([409, 'invalid_input']);
    expect(await Promise.all(['late', 'lost'].map(accepted))).toEqual([1, 1]);
  });

  it('repeats a recorded failure with the header that says so', async () => {
    const call = keyed('refused', '{"prompt":"[[sim:policy_output]] again"}');
    const first = await call();
    expect([first.status, first.headers.has('idempotent-replayed')]).toEqual([400, false]);
    const second = await waitFor(
      async () => {
        const answer = await call();
        return answer.headers.has('idempotent-replayed') && answer;
      },
      { withinMs: 20_000, what: 'the delivery to be noted' },
    );
    expect(second.status).toBe(400);
    expect(second.bytes.equals(first.bytes)).toBe(true);
  });

  it('without a key is withdrawn when it still waits at its bound: no submission, no charge', async () => {
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

  it('whose caller disconnects goes on, is billed, and says so in its record', async () => {
    const leaving = await system.caller();
    const body = `{"prompt":"[[sim:tag=left]] ${unending}"}`;
    const controller = new AbortController();
    const gone = fetch(`${system.gateways[0]?.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': leaving.key, 'content-type': 'application/json', 'idempotency-key': 'left' },
      body,
      signal: controller.signal,
    }).catch((error: unknown) => error);
    await submitted('left');
    controller.abort();
    await gone;
    const noticed = async () => {
      const left = `SELECT 1 FROM run WHERE workspace_id = $1 AND caller_left_at IS NOT NULL`;
      return (await system.sql(left, [leaving.workspaceId])).length === 1;
    };
    await waitFor(noticed, { withinMs: 20_000, what: 'the disconnect to be noticed' });
    await system.partner.finish();
    const answer = await leaving.call('POST', path, { body, headers: { 'idempotency-key': 'left' } });
    expect(answer.status).toBe(200);
    expect(await accepted('left')).toBe(1);
    const [record] = await system.sql<{ caller_left: boolean; billed: string }>(
      'SELECT caller_left, billed_micros AS billed FROM audit_record WHERE workspace_id = $1',
      [leaving.workspaceId],
    );
    expect(record?.caller_left).toBe(true);
    expect(Number(record?.billed)).toBeGreaterThan(0);
  });

  it('above its allowance is refused with 429, exactly', async () => {
    const narrow = await system.caller({ inflightLimit: 3 });
    let answered = 0;
    const answering = Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const body = JSON.stringify({ prompt: `${index} [[sim:tag=narrow]] ${unending}` });
        const answer = await narrow.call('POST', path, { body });
        answered += 1;
        return answer;
      }),
    );
    await waitFor(() => answered >= 37, { withinMs: 20_000, what: 'the refusals' });
    await submitted('narrow', 3);
    await system.partner.finish();
    const answers = await answering;
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(3);
    expect(
      answers.filter((answer) => answer.status === 429 && answer.bucket === 'concurrency_limit_exceeded'),
    ).toHaveLength(37);
    expect(await system.partner.peaks('narrow')).toMatchObject({ accepted: 3, peak: 3 });
  });

  it('keeps every invariant', () => holdToInvariants(system));
});

failOnLeftovers();
