import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { System } from '../harness/faults.js';
import { failOnLeftovers, Receiver, transports, waitFor } from '../harness/index.js';

const slow = 10_000;
const quick = 100;

let slowReceiver: Receiver;
let quickReceiver: Receiver;
let system: System;
const timers = new Set<NodeJS.Timeout>();

beforeAll(async () => {
  slowReceiver = await Receiver.start((_call, response) => {
    timers.add(setTimeout(() => response.writeHead(204).end(), 5_000));
  });
  quickReceiver = await Receiver.start();
  system = await System.start({ transport: transports()[0] ?? 'postgres' });
});
afterAll(async () => {
  await system.stop();
  for (const timer of timers) clearTimeout(timer);
  await slowReceiver.stop();
  await quickReceiver.stop();
});

/** Completes runs with a webhook, as `finish` does. */
const complete = (workspaceId: string, receiver: string, count: number) =>
  system.sql(
    `INSERT INTO webhook (run_id, workspace_id, model, origin, completed_at, url, receiver, form, due_at)
     SELECT gen_random_uuid(), $1, 'bfl/flux-2-pro', 'http://router.test', router_now(), $2 || '/hook', $2, 'standard', router_now()
     FROM generate_series(1, $3)`,
    [workspaceId, receiver, count],
  );

/** The longest time from completion to webhook at the quick receiver, in milliseconds. */
async function longestMs(workspaceId: string): Promise<number> {
  const before = quickReceiver.calls.length;
  const atMs = Date.now();
  await complete(workspaceId, quickReceiver.url, quick);
  await waitFor(() => quickReceiver.calls.length >= before + quick, {
    withinMs: 60_000,
    what: 'the quick receiver’s webhooks',
  });
  return Math.max(...quickReceiver.calls.slice(before).map((call) => call.atMs)) - atMs;
}

it(`${slow} webhooks to a receiver that takes five seconds each do not delay another receiver`, async () => {
  const [caller, other] = [await system.caller(), await system.caller()];
  const aloneMs = await longestMs(other.workspaceId);
  await complete(caller.workspaceId, slowReceiver.url, slow);
  const waiting = async () =>
    Number((await system.sql('SELECT count(*) AS n FROM webhook WHERE waiting'))[0]?.['n']);
  await waitFor(async () => (await waiting()) > slow * 0.9, {
    withinMs: 210_000,
    what: 'the line',
    everyMs: 500,
  });
  const besideMs: number[] = [];
  for (const { workspaceId } of [other, caller, other]) besideMs.push(await longestMs(workspaceId));
  process.stderr.write(
    `${quick} quick webhooks: ${aloneMs} ms alone; ${besideMs.join(', ')} ms beside ${await waiting()} slow ones (other workspace, the same, another)\n`,
  );
  for (const ms of besideMs) expect(ms).toBeLessThan(10_000);
  // Ten slots, five seconds each.
  const before = slowReceiver.calls.length;
  await waitFor(() => slowReceiver.calls.length >= before + 20, {
    withinMs: 30_000,
    what: 'the slow receiver’s webhooks to continue',
  });
});

failOnLeftovers();
