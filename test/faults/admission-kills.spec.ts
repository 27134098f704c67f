import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type App, holdToInvariants, least, System } from '../harness/faults.js';
import { type Answer, failOnLeftovers, sha256, transports, waitFor } from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const path = '/v2/models/bfl/flux-2-pro/requests';

describe.each(transports())('a gateway that dies during an admission, on %s', (transport) => {
  let system: System;
  let survivor: App;
  beforeAll(async () => {
    const env = { PUBLIC_BASE_URL: 'https://router.example.com' };
    system = await System.start({ transport, gateways: 1, workers: 2, env });
    survivor = system.gateways[0] as App;
  });
  afterAll(() => system.stop());

  it('after the commit and before the wake-up: a worker takes the run within 2 s', async () => {
    const waitedMs = await least(2_000, (attempt) => sweptAfterMs(`after commit ${attempt}`));
    process.stdout.write(`dispatched ${waitedMs} ms after the commit (${transport})\n`);
    expect(waitedMs).toBeLessThan(2_000);
    await holdToInvariants(system);
  });

  it('before the statement: nothing is left, and the retry creates one run', async () => {
    const { caller, body, submit } = await client('before commit');
    const before = await countersOf(caller);
    await killedBy('admit.beforeCommit:kill', submit);
    await expectNothing(caller, before);
    await expectOneRun(caller, body, await submit(survivor));
    await holdToInvariants(system);
  });

  it('a connection cut in the middle of the statement: 503, nothing is left, and the retry creates one run', async () => {
    const { caller, body, submit } = await client('cut');
    const before = await countersOf(caller);
    const release = await lockWorkspace(caller);
    const answering = submit(survivor);
    const pid = await waitingBackend();
    await system.sql('SELECT pg_terminate_backend($1)', [pid]);
    const answer = await answering;
    await release();
    expect([answer.status, answer.bucket]).toEqual([503, 'service_unavailable']);
    await expectNothing(caller, before);
    await expectOneRun(caller, body, await submit(survivor));
    await holdToInvariants(system);
  });

  it('killed in the middle of the statement: whether it committed or not, the retry leaves one run', async () => {
    const { caller, body, submit } = await client('killed in between');
    const doomed = await system.startGateway();
    const release = await lockWorkspace(caller);
    const lost = Promise.allSettled([submit(doomed)]);
    await waitingBackend();
    await system.kill(doomed);
    expect((await lost)[0].status).toBe('rejected');
    // The orphaned statement still holds the key, which is the worst moment for the retry.
    const retrying = submit(survivor);
    await waitFor(async () => (await waitingBackends()).length === 2, {
      withinMs: 10_000,
      what: 'the retry',
    });
    await release();
    await expectOneRun(caller, body, await retrying);
    await holdToInvariants(system);
  });

  it('after the wake-up and before the answer: the retry returns the same handle, byte for byte', async () => {
    const { caller, body, submit } = await client('before answer');
    await killedBy('submit.afterDeliver:kill', submit);
    const [run, ...others] = await runsOf(caller);
    expect(others).toEqual([]);
    const url = `https://router.example.com${path}/${run?.id}`;
    const handle = {
      request_id: run?.id,
      status: 'IN_QUEUE',
      queue_position: 0,
      status_url: `${url}/status`,
      response_url: url,
      cancel_url: `${url}/cancel`,
    };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const retried = await submit(survivor);
      expect(retried.status).toBe(201);
      expect(retried.headers.get('idempotent-replayed')).toBe('true');
      expect(retried.bytes.toString()).toBe(JSON.stringify(handle));
      await caller.completed({ requestId: run?.id ?? '', model: 'bfl/flux-2-pro', body });
    }
    expect(await acceptedOf(body)).toBe(1);
    await holdToInvariants(system);
  });

  /** Milliseconds from the commit of a dead gateway's run to its dispatch. */
  async function sweptAfterMs(name: string): Promise<number> {
    const { caller, body, submit } = await client(name);
    await killedBy('admit.afterCommit:kill', submit);
    const [run, ...others] = await runsOf(caller);
    expect(others).toEqual([]);
    const retried = await submit(survivor);
    expect(retried.status).toBe(201);
    expect(retried.headers.get('idempotent-replayed')).toBe('true');
    expect(retried.json()['request_id']).toBe(run?.id);
    await caller.completed({ requestId: run?.id ?? '', model: 'bfl/flux-2-pro', body });
    const [times] = await system.sql<{ waited_ms: number; outcome: string }>(
      `SELECT (extract(epoch FROM dispatched_at - admitted_at) * 1000)::float AS waited_ms, outcome FROM run WHERE id = $1`,
      [run?.id],
    );
    expect(times?.outcome).toBe('succeeded');
    expect(await acceptedOf(body)).toBe(1);
    return times?.waited_ms ?? Infinity;
  }

  /** A caller with a separate workspace, and the one request that it repeats. */
  async function client(prompt: string) {
    const caller = await system.caller();
    const body = JSON.stringify({ prompt: `${transport} ${prompt}` });
    const submit = (gateway: App): Promise<Answer> =>
      caller.call('POST', `${gateway.url}${path}`, {
        body,
        headers: { 'idempotency-key': prompt.replaceAll(' ', '-') },
      });
    return { caller, body, submit };
  }

  /** Expects the call to be lost because its gateway died at the failpoint. */
  async function killedBy(failpoint: string, submit: (gateway: App) => Promise<Answer>): Promise<void> {
    const doomed = await system.startGateway({ FAILPOINT: failpoint });
    await expect(submit(doomed)).rejects.toThrow('fetch failed');
    await waitFor(() => doomed.child.signalCode === 'SIGKILL', {
      withinMs: 20_000,
      what: 'the gateway to die',
    });
    system.forget(doomed);
  }

  const runsOf = (caller: TestCaller) =>
    system.sql<{ id: string }>('SELECT id FROM run WHERE workspace_id = $1', [caller.workspaceId]);

  const countersOf = (caller: TestCaller) =>
    system.sql(
      'SELECT inflight, committed_micros, held_micros, backlog, window_count, balance_micros FROM workspace WHERE id = $1',
      [caller.workspaceId],
    );

  async function expectNothing(caller: TestCaller, counters: unknown): Promise<void> {
    expect(await runsOf(caller)).toEqual([]);
    expect(await countersOf(caller)).toEqual(counters);
    const left = await system.sql(
      `SELECT run_id FROM outbox WHERE workspace_id = $1 UNION ALL SELECT run_id FROM idempotency_key WHERE workspace_id = $1`,
      [caller.workspaceId],
    );
    expect(left).toEqual([]);
  }

  async function expectOneRun(caller: TestCaller, body: string, answer: Answer): Promise<void> {
    expect(answer.status).toBe(201);
    const requestId = String(answer.json()['request_id']);
    expect(await runsOf(caller)).toEqual([{ id: requestId }]);
    const status = await caller.completed({ requestId, model: 'bfl/flux-2-pro', body });
    expect(status['error_type']).toBeUndefined();
    expect(await acceptedOf(body)).toBe(1);
  }

  async function acceptedOf(body: string): Promise<number> {
    const digest = sha256(body);
    return (await system.provider.ledger()).filter((entry) => entry.bodySha256 === digest).length;
  }

  /** Locks the row that every admission of the workspace needs, until the returned function is called. */
  async function lockWorkspace(caller: TestCaller): Promise<() => Promise<void>> {
    const locker = new Client({ connectionString: system.database.url });
    await locker.connect();
    await locker.query('BEGIN');
    await locker.query('SELECT 1 FROM workspace WHERE id = $1 FOR UPDATE', [caller.workspaceId]);
    return () => locker.end();
  }

  async function waitingBackends(): Promise<number[]> {
    const rows = await system.sql<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%admit(%'`,
    );
    return rows.map((row) => row.pid);
  }

  async function waitingBackend(): Promise<number> {
    return waitFor(async () => (await waitingBackends())[0], {
      withinMs: 10_000,
      what: 'the admission to wait',
    });
  }
});

failOnLeftovers();
