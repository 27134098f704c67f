import type { OperatorProvider, RouterRequestDetail } from '#schemas';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerOf, runAdmin } from '../admin/run-admin.js';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, type TestCaller, transports, waitFor } from '../harness/index.js';
import { metric } from './metrics.js';

type State = NonNullable<OperatorProvider['state']>;

const model = 'bfl/flux-2-pro';

let system: System;
let caller: TestCaller;

beforeAll(async () => {
  const [transport = 'postgres'] = transports();
  system = await System.start({ transport, takesMs: 50 });
  caller = await system.caller({ inflightLimit: 100 }, 'acme', ['catalog', 'run', 'requests', 'operate']);
});
afterAll(() => system.stop());

const admin = () => ({ DATABASE_URL: system.database.url });
const run = async (prompt: string, of = model) => {
  const submitted = await caller.submit(of, JSON.stringify({ prompt }));
  await caller.completed(submitted);
  return submitted;
};
const providerOf = async (name: string) =>
  (await caller.call('GET', `/v2/operator/providers/${name}`)).json() as unknown as OperatorProvider;
/** The provider, once it is in this state and this number of runs counts. */
const become = (state: State, name = 'bfl', runs?: number) =>
  waitFor(
    async () => {
      const provider = await providerOf(name);
      return provider.state === state && (runs === undefined || provider.recent.runs === runs) && provider;
    },
    { withinMs: 20_000, what: `${name} to be ${state}` },
  );
/** The line of a provider in the command's table. */
const lineOf = async (name: string) => {
  const { out } = await runAdmin(admin(), 'provider', 'list');
  return out.split('\n').find((line) => line.startsWith(`${name} `)) ?? '';
};
/** Whether every process shows this state of a provider, and no other. */
const measured = (provider: string, state: State) =>
  waitFor(
    async () => {
      const counts = await Promise.all(
        [...system.gateways, ...system.workers].flatMap((app) => [
          metric(app, 'router_provider_state', { provider, state }),
          metric(app, 'router_provider_state', { provider }),
        ]),
      );
      return counts.every((count) => count === 1);
    },
    { withinMs: 30_000, what: `the metric of ${provider} to be ${state} on every process` },
  );

describe('the state of a provider', () => {
  it('tells a rejected key, an empty balance and failed runs apart, and ends with a run that succeeds', async () => {
    await run('well');
    expect(await become('ready', 'bfl', 1)).toMatchObject({ simulated: false, recent: { failed: 0 } });

    await run('[[sim:401]] rejected');
    await become('key_rejected');
    expect(await lineOf('bfl')).toMatch(/^bfl +key rejected +yes /);
    await measured('bfl', 'key_rejected');
    await run('well again');
    await become('ready');

    await run('[[sim:402]] unpaid');
    await become('no_balance');
    expect(await lineOf('bfl')).toMatch(/^bfl +no balance +yes /);
    await run('well at last');
    await become('ready');

    await Promise.all(['one', 'two', 'three'].map((each) => run(`[[sim:job_failed]] ${each}`)));
    expect((await become('failing', 'bfl', 8)).recent).toEqual({ runs: 8, failed: 3, throttled: 0 });
    expect(await lineOf('bfl')).toMatch(/^bfl +failing \(3 of the last 8\) +yes /);
    await measured('bfl', 'failing');
  }, 120_000);

  it('stays ready if callers are to blame, and tells throttling and an operator’s pause', async () => {
    const fal = 'fal/flux-dev';
    const refused = ['one', 'two', 'three'].map((each) => run(`[[sim:policy_submit]] ${each}`, fal));
    await Promise.all([
      ...refused,
      ...['four', 'five'].map((each) => run(`[[sim:field_error]] ${each}`, fal)),
    ]);
    expect((await become('ready', 'fal', 5)).recent).toEqual({ runs: 5, failed: 0, throttled: 0 });

    const waiting = await caller.submit(
      fal,
      JSON.stringify({ prompt: '[[sim:429=1]][[sim:retry_after=60]] too many' }),
    );
    expect(await become('throttled', 'fal')).toMatchObject({ pauses: [{ asked_by: 'provider' }] });
    await measured('fal', 'throttled');
    await answerOf(admin(), 'provider', 'resume', 'fal');
    await caller.completed(waiting, 60_000);
    await become('ready', 'fal');

    await answerOf(admin(), 'provider', 'pause', 'fal', '--reason', 'maintenance');
    const [pause] = (await become('paused', 'fal')).pauses;
    expect(pause).toMatchObject({
      asked_by: 'operator',
      actor: expect.stringMatching(/^admin:/),
      since: expect.any(String),
      reason: 'maintenance',
    });
    expect(await lineOf('fal')).toMatch(/^fal +paused .*submits +admin:.* maintenance$/);
    await answerOf(admin(), 'provider', 'resume', 'fal');
  }, 120_000);
});

it('what the simulator serves is marked: provider, model, live run, ended run and command', async () => {
  const before = await run('from the provider');
  const [real] = system.workers;
  const worker = await system.startWorker({ SIMULATOR_URL: system.simulator.url });
  if (!real) throw new Error('no worker');
  await real.stop();
  system.forget(real);
  // A key without the simulator's address is not enough: another worker may serve the same provider.
  expect(await become('simulated', 'openai')).toMatchObject({ simulated: true });
  await measured('openai', 'simulated');
  expect(await lineOf('bfl')).toMatch(/^bfl +failing \(.*\), simulated +yes /);

  const listed = async (view: string) =>
    (
      (await caller.call('GET', `/v2/models?q=flux-2-pro&limit=100${view}`)).json()['data'] as {
        id: string;
      }[]
    ).find(({ id }) => id === model);
  await waitFor(async () => (await listed('&view=full'))?.['simulated' as 'id'] !== undefined, {
    withinMs: 20_000,
    what: 'the model to be marked',
  });
  expect(await listed('&view=full')).toMatchObject({ simulated: true });
  expect(await listed('')).not.toHaveProperty('simulated');

  const read = async (id: string) =>
    (await caller.call('GET', `/v2/requests/${id}`)).json() as unknown as RouterRequestDetail;
  const live = await caller.submit(model, JSON.stringify({ prompt: '[[sim:takes=2000]] slowly' }));
  expect(await read(live.requestId)).toMatchObject({ simulated: true });
  await caller.completed(live);
  expect(await read(live.requestId)).toMatchObject({ simulated: true, outcome: 'succeeded' });
  expect(await read(before.requestId)).not.toHaveProperty('simulated');
  expect(await answerOf(admin(), 'run', 'show', live.requestId)).toMatchObject({ simulated: true });
  const failed = await run('[[sim:job_failed]] marked');
  const { data } = (await caller.call('GET', '/v2/operator/runs?state=failed')).json() as {
    data: { request_id: string; simulated?: true }[];
  };
  expect(data.find(({ request_id }) => request_id === failed.requestId)).toMatchObject({ simulated: true });
  expect(
    await system.sql('SELECT simulated, count(*)::integer AS runs FROM audit_record GROUP BY 1 ORDER BY 1'),
  ).toEqual(expect.arrayContaining([{ simulated: true, runs: 2 }]));
  expect(worker.logs()).not.toContain('"level":50');
  await holdToInvariants(system);
}, 120_000);

failOnLeftovers();
