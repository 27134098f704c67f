import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import {
  failOnLeftovers,
  Receiver,
  redirect,
  type Reply,
  reset,
  ScriptedServer,
  status,
  transports,
  verified,
  waitFor,
} from '../harness/index.js';
import { death, dismissWorkers, quick } from './worker-faults.js';

describe.each(transports())('receivers of webhooks on %s', (transport) => {
  let receiver: Receiver;
  let canary: ScriptedServer;
  let system: System;

  beforeAll(async () => {
    canary = await ScriptedServer.start();
    receiver = await Receiver.start();
    /** How the first calls of a path are answered. */
    const first = (path: string, calls: number, reply: Reply) =>
      receiver.paths.set(path, (call, response, nth) =>
        (nth <= calls ? reply : status(204))(call, response, nth),
      );
    first('/fails', 6, status(500));
    for (const path of ['/hangs', '/held']) first(path, 1, () => {});
    first('/redirects', 2, redirect(`${canary.url}/`, 307));
    first('/resets', 1, reset);
    system = await System.start({
      transport,
      workers: 0,
      env: { ...quick, WEBHOOK_ALLOWED_ORIGINS: receiver.url },
    });
  });
  afterAll(async () => {
    await dismissWorkers(system);
    await system.stop();
    await receiver.stop();
    await canary.stop();
  });

  const asked = (path: string) => ({ query: `?webhook_url=${encodeURIComponent(receiver.url + path)}` });
  const submit = (caller: Awaited<ReturnType<System['caller']>>, path: string) =>
    caller.submit('bfl/flux-2-pro', JSON.stringify({ prompt: `webhook ${path}` }), asked(path));
  const row = async (runId: string) =>
    (await system.sql(`SELECT tries, delivered, problem FROM webhook WHERE run_id = $1`, [runId]))[0];

  /** Skips the pauses between attempts until every webhook is delivered. */
  const allDelivered = (runIds: readonly string[]) =>
    waitFor(
      async () => {
        await system.sql(
          `UPDATE webhook SET due_at = router_now() WHERE ended_at IS NULL AND tries > 0 AND due_at > router_now() + interval '5 seconds'`,
        );
        const delivered = await system.sql(`SELECT 1 FROM webhook WHERE run_id = ANY($1) AND delivered`, [
          runIds,
        ]);
        return delivered.length === runIds.length;
      },
      { withinMs: 180_000, what: 'every webhook to be delivered', everyMs: 500 },
    );

  it('that fail six times, hang, reset or redirect to this machine each get a signed call, and no other receiver does', async () => {
    const caller = await system.caller();
    await system.startWorker();
    const paths = ['/fails', '/hangs', '/redirects', '/resets'];
    const runs = await Promise.all(paths.map((path) => submit(caller, path)));
    await allDelivered(runs.map(({ requestId }) => requestId));
    const secrets = await system.webhookSecrets(caller);
    expect(paths.map((path) => receiver.to(path).length)).toEqual([7, 2, 3, 2]);
    for (const [index, path] of paths.entries())
      for (const call of receiver.to(path))
        expect(verified(call, secrets)).toMatchObject({ data: { request_id: runs[index]?.requestId } });
    expect(await Promise.all(runs.map(({ requestId }) => row(requestId)))).toMatchObject([
      { tries: 7, problem: 'answered HTTP 500' },
      { tries: 2, problem: 'no answer within 10 s' },
      { tries: 3, problem: 'answered HTTP 307' },
      { tries: 2, problem: 'not reached: reset' },
    ]);
    expect(canary.connections).toBe(0);
  });

  it('whose name resolves to this machine are never called', async () => {
    const caller = await system.caller();
    const { requestId } = await caller.submit('bfl/flux-2-pro', '{"prompt":"private"}', {
      query: '?webhook_url=https://localhost/hook',
    });
    const tried = async () => Number((await row(requestId))?.['tries'] ?? 0) >= 1;
    await waitFor(tried, { withinMs: 60_000, what: 'the first attempt' });
    expect(await row(requestId)).toMatchObject({
      delivered: false,
      problem: 'the address may not be called',
    });
    await dismissWorkers(system);
  });

  it('lose no webhook when workers are killed at the outcome, during the call, or after it', async () => {
    const caller = await system.caller();
    const atOutcome = await system.startWorker({ FAILPOINT: 'finish.afterCommit:kill' });
    const first = await submit(caller, '/outcome');
    await death(system, atOutcome);

    const duringCall = await system.startWorker();
    const second = await submit(caller, '/held');
    await waitFor(() => receiver.to('/held').length > 0, { withinMs: 60_000, what: 'the call' });
    await system.kill(duringCall);
    await system.startWorker();
    await allDelivered([first.requestId, second.requestId]);
    await dismissWorkers(system);

    // Nothing may be due when it starts, or it would die before it is ready.
    const afterCall = await system.startWorker({ FAILPOINT: 'webhook.afterCall:kill' });
    const third = await submit(caller, '/after');
    await death(system, afterCall, 60_000);

    const runs = [first, second, third].map(({ requestId }) => requestId);
    await system.startWorker();
    await allDelivered(runs);
    const secrets = await system.webhookSecrets(caller);
    for (const path of ['/outcome', '/held', '/after'])
      for (const call of receiver.to(path)) verified(call, secrets);
    expect(new Set(receiver.to('/after').map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([third.requestId]),
    );
    await holdToInvariants(system);
  });
});

failOnLeftovers();
