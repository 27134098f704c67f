import type { Ending } from '#persistence';
import { expect, it } from '@jest/globals';
import { openEvents } from '../../harness/events.js';
import { waitFor } from '../../harness/wait-for.js';
import { sharedGateway } from '../gateways.js';
import { bearer, generations } from '../generations.js';

const gateway = sharedGateway();
const small = sharedGateway('small');
const model = 'bfl/flux-2-pro';
const path = `/v2/models/${model}`;
const body = '{"prompt":"x"}';
const keyed = { body, headers: { 'idempotency-key': 'k' } };
const succeeded: Ending = {
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from('{"ok":true}'),
};
const failed: Ending = {
  outcome: 'failed',
  bucket: 'content_policy_violation',
  status: 400,
  detail: 'It was refused.',
  billable: false,
};

/** The status, and the id of the run. */
const named = ({ status, headers }: { status: number; headers: Headers }) => [
  status,
  headers.get('x-service-run-id'),
];

const callIdOf = ({ headers }: { headers: Headers }) => headers.get('x-service-request-id') ?? '';

it('the answers to a submission name its run, a replay and a refusal of a replay too', async () => {
  const { caller } = await gateway().caller();
  const first = await caller.call('POST', `${path}/requests`, keyed);
  const { request_id: runId } = first.json();
  expect(named(first)).toEqual([201, runId]);
  expect(first.headers.get('x-service-request-id')).not.toBe(runId);
  expect(named(await caller.call('POST', `${path}/requests`, keyed))).toEqual([201, runId]);
  // The same key, sent with another request, belongs to no run.
  expect(named(await caller.call('POST', path, keyed))).toEqual([409, null]);
});

it('status, stream, collect and cancel name the run, whatever they answer', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit(model, body);
  const { requestId: runId } = run;
  const url = `${path}/requests/${runId}`;
  expect(named(await caller.status(run))).toEqual([200, runId]);
  expect(named(await caller.call('HEAD', `${url}/status`))).toEqual([200, runId]);
  expect(named(await caller.collect(run))).toEqual([202, runId]);
  expect(named(await caller.cancel(run))).toEqual([202, runId]);
  const stream = await openEvents(`${gateway().url}${url}/status/stream`, { 'x-api-key': caller.key });
  expect(named(stream.response)).toEqual([200, runId]);
  expect(await stream.ended).toBe(true);
  expect(named(await caller.collect(run))).toEqual([409, runId]);
  expect(named(await caller.cancel(run))).toEqual([400, runId]);
  for (const [ending, status] of [
    [succeeded, 200],
    [failed, 400],
  ] as const) {
    const ended = await caller.submit(model, body);
    await gateway().finish(ended, ending);
    expect(named(await caller.collect(ended))).toEqual([status, ended.requestId]);
  }
});

it('a result that has aged out still has its run’s id, and no other 404 or 410 has one', async () => {
  const { caller } = await gateway().caller({}, ['run', 'requests']);
  const { caller: stranger } = await gateway().caller();
  const run = await caller.submit(model, body);
  await gateway().finish(run, succeeded, { ago: '25 hours' });
  const url = `${path}/requests/${run.requestId}`;
  for (const [method, end] of [
    ['GET', ''],
    ['GET', '/status'],
    ['GET', '/status/stream'],
    ['PUT', '/cancel'],
  ] as const) {
    expect(named(await caller.call(method, `${url}${end}`))).toEqual([410, run.requestId]);
    expect(named(await stranger.call(method, `${url}${end}`))).toEqual([404, null]);
  }
  expect(named(await caller.call('GET', `/v2/requests/${run.requestId}`))).toEqual([200, run.requestId]);
  expect(named(await caller.call('GET', `/v2/requests/${run.requestId}/input`))).toEqual([
    410,
    run.requestId,
  ]);
});

it.each(generations)(
  'a synchronous result or failure on %s names its run, a replay too',
  async (generation) => {
    for (const [ending, status] of [
      [succeeded, 200],
      [failed, 400],
    ] as const) {
      const { caller, workspace } = await gateway().caller();
      const headers = { ...(await bearer(workspace.id)), 'idempotency-key': 'k' };
      const call = () => caller.call('POST', `/${generation}/models/${model}`, { body, headers });
      const answering = call();
      const run = await gateway().admittedRun(workspace);
      const joining = call();
      await gateway().finish(run, ending);
      for (const answer of [await answering, await joining, await call()])
        expect(named(answer)).toEqual([status, run.requestId]);
    }
  },
);

it('a result that cannot be repeated names its run', async () => {
  const { caller, workspace } = await gateway().caller();
  const answering = caller.call('POST', path, keyed);
  const run = await gateway().admittedRun(workspace);
  await gateway().finish(run, { ...succeeded, providerUrls: true });
  expect(named(await answering)).toEqual([200, run.requestId]);
  const again = await waitFor(
    async () => {
      const answer = await caller.call('POST', path, keyed);
      return answer.status === 409 && answer;
    },
    { withinMs: 60_000, what: 'the delivery to be recorded' },
  );
  expect(named(again)).toEqual([409, run.requestId]);
});

it('a 504 of a held call names the run, withdrawn or not', async () => {
  const keys: Record<string, string>[] = [{}, { 'idempotency-key': 'k' }];
  for (const headers of keys) {
    const { caller, workspace } = await small().caller();
    const answer = await caller.call('POST', path, { body, headers });
    expect(named(answer)).toEqual([504, (await small().admittedRun(workspace)).requestId]);
  }
});

it('answers that belong to no run name none', async () => {
  const { caller } = await gateway().caller({ balanceMicros: 0 }, ['catalog', 'run', 'requests']);
  for (const answer of [
    await caller.call('GET', '/v2/models'),
    await caller.call('GET', '/v2/requests'),
    await caller.call('POST', `${path}/requests`, { body }),
    await caller.call('POST', path, { body: '{"prompt":1}' }),
    await caller.call('GET', `${path}/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234/status`),
  ])
    expect(answer.headers.get('x-service-run-id')).toBeNull();
});

it('clients of fal and Comfy get the run’s id too', async () => {
  const { caller } = await gateway().caller();
  const answer = await fetch(`${gateway().url}/fal/proxy`, {
    method: 'POST',
    headers: {
      authorization: `Key ${caller.key}`,
      'x-fal-target-url': 'https://queue.fal.run/fal-ai/flux/dev',
      'content-type': 'application/json',
    },
    body,
  });
  const { request_id: runId } = (await answer.json()) as { request_id: string };
  expect(
    ['x-service-run-id', 'x-comfy-run-id', 'x-fal-request-id'].map((name) => answer.headers.get(name)),
  ).toEqual([runId, runId, runId]);
});

it('the log line of such a call has the run’s id, and no other line has one', async () => {
  const { caller } = await gateway().caller();
  const submitted = await caller.call('POST', `${path}/requests`, { body });
  const { request_id: runId } = submitted.json();
  const run = { model, requestId: String(runId), body };
  const collected = await caller.collect(run);
  const list = await caller.call('GET', '/v2/models');
  const lineOf = async (id: string) => {
    const line = await waitFor(
      () =>
        gateway()
          .logs()
          .split('\n')
          .find((each) => each.includes(`"request_id":"${id}"`)),
      { withinMs: 60_000, what: `the line of ${id}` },
    );
    return JSON.parse(line) as { run_id?: string };
  };
  expect((await lineOf(callIdOf(submitted))).run_id).toBe(runId);
  expect((await lineOf(callIdOf(collected))).run_id).toBe(runId);
  expect(await lineOf(callIdOf(list))).not.toHaveProperty('run_id');
});
