import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { System } from '../harness/faults.js';
import { failOnLeftovers, transports, waitFor } from '../harness/index.js';
import { NameServer } from '../harness/name-server.js';

const silentNames = 30;
/** Its provider answers the submission when the image is done. */
const model = 'openai/gpt-image-2';
/** Longer than a connection to a provider is kept, so that each run resolves the provider's name again. */
const betweenRunsMs = 5_000;

let server: NameServer;
let system: System;
beforeAll(async () => {
  server = await NameServer.start();
  system = await System.start({
    transport: transports()[0] ?? 'postgres',
    workers: 0,
    env: { CALLER_DNS_SERVERS: server.address },
  });
  const provider = system.simulator.url.replace('127.0.0.1', 'localhost');
  await system.startWorker({ PROVIDER_OPENAI_BASE_URL: `${provider}/openai` });
});
afterAll(async () => {
  await system.stop();
  await server.stop();
});

const namesAsked = () => new Set(server.asked.map((query) => query.split(' ')[1])).size;

/** Completes runs with a webhook each, to names whose DNS never answers. */
const complete = (workspaceId: string) =>
  system.sql(
    `INSERT INTO webhook (run_id, workspace_id, model, origin, completed_at, url, receiver, form, due_at)
     SELECT gen_random_uuid(), $1, 'bfl/flux-2-pro', 'http://router.test', router_now(), name || '/hook', name, 'standard', router_now()
     FROM generate_series(1, $2) AS nth, format('https://hook-%s.silent', nth) AS name`,
    [workspaceId, silentNames],
  );

it(`${silentNames} webhooks to names without DNS do not delay another workspace’s run, whose provider has a name`, async () => {
  const [caller, other] = [await system.caller(), await system.caller()];
  const runMs = async () => {
    await pause(betweenRunsMs);
    const startedAt = performance.now();
    const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'a name' });
    expect((await other.call('POST', `/v2/models/${model}`, { body })).status).toBe(200);
    return Math.round(performance.now() - startedAt);
  };
  await runMs();
  const aloneMs = [await runMs(), await runMs(), await runMs()];
  await complete(caller.workspaceId);
  await waitFor(() => server.asked.length > 0, { withinMs: 30_000, what: 'a look-up' });
  const besideMs = [await runMs(), await runMs(), await runMs(), await runMs()];
  process.stderr.write(
    `a run: ${aloneMs.join(', ')} ms alone; ${besideMs.join(', ')} ms beside silent names\n`,
  );
  expect(Math.max(...besideMs)).toBeLessThan(3_000);
  const problems = () =>
    system.sql('SELECT problem FROM webhook WHERE workspace_id = $1 AND tries > 0', [caller.workspaceId]);
  await waitFor(async () => (await problems()).length === silentNames, {
    withinMs: 60_000,
    what: 'an attempt of each webhook',
    everyMs: 500,
  });
  expect(await problems()).toEqual(
    Array.from({ length: silentNames }, () => ({ problem: 'not reached: dns' })),
  );
  // Eight names are looked up at a time, so the turn of the last ones may come only with their second attempt.
  await waitFor(() => namesAsked() >= silentNames, { withinMs: 60_000, what: 'a look-up of each name' });
  expect(namesAsked()).toBe(silentNames);
});

failOnLeftovers();
