import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, type Submitted, transports, unending, waitFor } from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const path = '/v2/models/fal/flux-dev';

describe.each(transports())('a cancellation or a lost caller, on %s', (transport) => {
  let system: System;
  let caller: TestCaller;
  /** Has a short deadline, so tests address it directly. */
  let hasty: App;
  beforeAll(async () => {
    system = await System.start({ transport });
    hasty = await system.startGateway({ SYNC_DEADLINE_MS: '6000' });
    system.forget(hasty);
    caller = await system.caller();
  });
  afterAll(() => system.stop());

  const countersOf = (of: TestCaller) =>
    system.sql(
      'SELECT inflight, committed_micros, held_micros, backlog, balance_micros FROM workspace WHERE id = $1',
      [of.workspaceId],
    );
  const accepted = (tag: string) => system.provider.accepted(tag);
  const outcomeOf = async (runId: string) => {
    const [row] = await system.sql<{ outcome: string | null; sent: boolean; billed: string | null }>(
      `SELECT outcome, dispatched_at IS NOT NULL AS sent, billed_micros AS billed FROM run WHERE id = $1`,
      [runId],
    );
    return row;
  };
  const joined = (at: string | undefined) =>
    caller.call('POST', `${at}${path}`, {
      body: bodyOf('joined', unending),
      headers: { 'idempotency-key': 'joined' },
    });
  const isRunning = (tag: string) =>
    waitFor(async () => (await accepted(tag)) === 1, { withinMs: 20_000, what: `${tag} at the provider` });

  it('before the dispatch: everything reserved is returned, once', async () => {
    await whileWorkersSleep(async () => {
      const before = await countersOf(caller);
      const run = await caller.submit('fal/flux-dev', '{"prompt":"ready [[sim:tag=ready]]"}');
      expect(await countersOf(caller)).not.toEqual(before);
      const asks = await Promise.all(Array.from({ length: 8 }, () => caller.cancel(run)));
      // The first request ended the run, so the others came too late.
      expect(asks.map((answer) => answer.status).sort((one, other) => one - other)).toEqual([
        202,
        ...Array.from({ length: 7 }, () => 400),
      ]);
      expect(await countersOf(caller)).toEqual(before);
      expect((await caller.status(run)).json()).toMatchObject({
        status: 'COMPLETED',
        error_type: 'client_disconnected',
      });
    });
    await holdToInvariants(system);
    expect(await accepted('ready')).toBe(0);
  });

  it.each(['cancel_ignored', 'cancel_too_late'])(
    'at a provider that does not cancel (%s): its result counts and is charged, and COMPLETED stays',
    async (token) => {
      const run = await caller.submit(
        'fal/flux-dev',
        `{"prompt":"[[sim:${token}]] ${unending} [[sim:tag=${token}]]"}`,
      );
      await isRunning(token);
      expect((await caller.cancel(run)).status).toBe(202);
      await waitFor(async () => (await system.provider.ledger(token))[0]?.cancelAskedAtMs !== null, {
        withinMs: 20_000,
        what: 'the provider to get the cancellation',
      });
      expect((await caller.cancel(run)).status).toBe(202);
      await system.provider.finish();
      expect(await caller.completed(run)).not.toHaveProperty('error_type');
      expect((await caller.cancel(run)).status).toBe(400);
      expect((await caller.collect(run)).status).toBe(200);
      const [entry] = await system.provider.ledger(token);
      expect(entry?.cancelAskedAtMs).not.toBeNull();
      expect(await outcomeOf(run.requestId)).toMatchObject({ outcome: 'succeeded', sent: true });
      expect(Number((await outcomeOf(run.requestId))?.billed)).toBeGreaterThan(0);
      await staysCompleted(run);
    },
  );

  it('at a provider that forgets cancelled runs: the run is cancelled and not charged', async () => {
    const run = await caller.submit(
      'fal/flux-dev',
      '{"prompt":"[[sim:cancel_forgets]] [[sim:takes=60000]] [[sim:tag=forgets]]"}',
    );
    await isRunning('forgets');
    expect((await caller.cancel(run)).status).toBe(202);
    expect(await caller.completed(run)).toMatchObject({ error_type: 'client_disconnected' });
    expect(await outcomeOf(run.requestId)).toMatchObject({ outcome: 'cancelled', sent: true });
    expect(Number((await outcomeOf(run.requestId))?.billed ?? 0)).toBe(0);
  });

  it('the caller hangs up while the run waits: without a key it is withdrawn, with a key it continues', async () => {
    await whileWorkersSleep(async () => {
      for (const [tag, key] of [
        ['hung-up', undefined],
        ['hung-up-with-key', 'kept'],
      ] as const) {
        const call = hangUpLater(tag, key);
        const [run] = await waitFor(() => runsWith(tag), { withinMs: 20_000, what: 'the run' });
        call.hangUp();
        await call.ended;
        const left = await waitFor(
          async () => {
            const [row] = await system.sql<{ left: boolean; outcome: string | null }>(
              'SELECT caller_left_at IS NOT NULL AS left, outcome FROM run WHERE id = $1',
              [run?.id],
            );
            return row?.left === true && row;
          },
          { withinMs: 20_000, what: 'the gateway to notice the disconnect' },
        );
        expect(left.outcome).toBe(key === undefined ? 'cancelled' : null);
      }
    });
    const collected = await caller.call('POST', path, {
      body: bodyOf('hung-up-with-key'),
      headers: { 'idempotency-key': 'kept' },
    });
    expect(collected.status).toBe(200);
    expect([await accepted('hung-up'), await accepted('hung-up-with-key')]).toEqual([0, 1]);
  });

  it('the caller of a dispatched run without a key hangs up: the run continues, and is billed', async () => {
    const call = hangUpLater('billed', undefined, unending);
    await isRunning('billed');
    call.hangUp();
    await call.ended;
    const [run] = await runsWith('billed');
    await system.provider.finish();
    const ended = await waitFor(
      async () => {
        const row = await outcomeOf(run?.id ?? '');
        return row?.outcome === 'succeeded' && row;
      },
      { withinMs: 20_000, what: 'the outcome' },
    );
    expect(Number(ended.billed)).toBeGreaterThan(0);
  });

  it('a call that joins another does not end it: the first gets its 504, the second the result', async () => {
    const first = joined(hasty.url);
    await isRunning('joined');
    const second = joined(system.gateways[0]?.url);
    const late = await first;
    await system.provider.finish();
    const other = await second;
    expect([late.status, late.bucket]).toEqual([504, 'deadline_exceeded']);
    expect(late.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect([other.status, other.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(await accepted('joined')).toBe(1);
  });

  it('keeps every invariant', () => holdToInvariants(system));

  async function whileWorkersSleep(act: () => Promise<void>): Promise<void> {
    for (const worker of system.workers) await worker.kill('SIGSTOP');
    try {
      await act();
    } finally {
      for (const worker of system.workers) await worker.kill('SIGCONT');
    }
  }

  async function staysCompleted(run: Submitted): Promise<void> {
    const untilMs = performance.now() + 1_500;
    while (performance.now() < untilMs) {
      expect((await caller.status(run)).json()['status']).toBe('COMPLETED');
    }
  }

  /** The runs whose input contains the tag; throws while there are none. */
  async function runsWith(tag: string): Promise<{ id: string }[]> {
    const rows = await system.sql<{ id: string }>(
      `SELECT run_id AS id FROM payload WHERE kind = 'input' AND position($1::bytea IN body) > 0`,
      [Buffer.from(`tag=${tag}]`)],
    );
    if (rows.length === 0) throw new Error(`no run with ${tag} yet`);
    return rows;
  }

  function hangUpLater(tag: string, key?: string, more?: string) {
    const controller = new AbortController();
    const ended = fetch(`${system.gateways[0]?.url}${path}`, {
      method: 'POST',
      headers: {
        'x-api-key': caller.key,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      body: bodyOf(tag, more),
      signal: controller.signal,
    }).catch((error: unknown) => error);
    return { hangUp: () => controller.abort(), ended };
  }
});

failOnLeftovers();

const bodyOf = (tag: string, more = '') => JSON.stringify({ prompt: `[[sim:tag=${tag}]]${more}` });
