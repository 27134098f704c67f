import { AttemptRepository, type NotedAttempt } from '#persistence';
import { type OperatorRunDetail, workspaceScopes } from '#schemas';
import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import type { Submitted } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const model = 'bfl/flux-2-pro';
const input = '{"prompt":"x"}';
const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
/** A text that no answer to a caller may contain. */
const mark = 'only-for-operators';

const attempt = (more: Partial<NotedAttempt> = {}): NotedAttempt => ({
  provider: 'bfl',
  phase: 'submit',
  status: 500,
  class: 'provider_failed',
  retry: 'never',
  reading: `${mark} reading`,
  requestId: `${mark}-id`,
  reply: `{"error":"${mark}"}`,
  count: 1,
  firstAgoMs: 0,
  lastAgoMs: 0,
  ...more,
});
const note = ({ requestId: runId }: Submitted, attempts: NotedAttempt[], leftOut = 0) =>
  new AttemptRepository(gateway().database).note([{ runId, leftOut, attempts }]);
const asOperator = async () => (await gateway().caller({}, ['operate'])).caller;

it('200: a live run with its handle, the time it is due, and the provider’s pauses', async () => {
  const { caller, workspace } = await gateway().caller();
  const run = await caller.submit(model, input);
  await gateway().dispatch(run);
  const operator = await asOperator();
  const answer = await operator.call('GET', `/v2/operator/runs/${run.requestId}`);
  expect([answer.status, answer.json()]).toEqual([
    200,
    {
      request_id: run.requestId,
      workspace: { id: workspace.id, name: workspace.name },
      model,
      provider: 'bfl',
      status: 'IN_PROGRESS',
      stage: expect.any(String),
      created_at: time,
      granted_at: time,
      started_at: time,
      call_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      handle: expect.any(Object),
      attempts: 1,
      crashes: 0,
      due_at: time,
      deadline_at: time,
      pauses: expect.any(Array),
      provider_attempts: [],
      provider_attempts_left_out: 0,
    },
  ]);
});

it('200: a failed run with its attempts, also by the id of its call', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit(model, input);
  await note(run, [attempt({ phase: 'upload', status: undefined, retry: 'new_submit' })]);
  await note(run, [attempt({ count: 3, firstAgoMs: 5000, lastAgoMs: 1000 })], 4);
  await gateway().finish(run, {
    outcome: 'failed',
    bucket: 'provider_error',
    status: 502,
    detail: 'It failed.',
    billable: false,
  });
  const operator = await asOperator();
  const read = async (id: string) => (await operator.call('GET', `/v2/operator/runs/${id}`)).json();
  const found = (await read(run.requestId)) as OperatorRunDetail;
  expect(found).toMatchObject({
    error_type: 'provider_error',
    error_detail: 'It failed.',
    pauses: [],
    provider_attempts_left_out: 4,
  });
  expect(found).not.toHaveProperty('due_at');
  const texts = {
    reading: `${mark} reading`,
    provider_request_id: `${mark}-id`,
    reply: `{"error":"${mark}"}`,
  };
  expect(found.provider_attempts).toEqual([
    {
      at: time,
      count: 1,
      provider: 'bfl',
      phase: 'upload',
      class: 'provider_failed',
      retry: 'new_submit',
      ...texts,
    },
    {
      at: time,
      last_at: time,
      count: 3,
      provider: 'bfl',
      phase: 'submit',
      status: 500,
      class: 'provider_failed',
      retry: 'never',
      ...texts,
    },
  ]);
  expect(await read(String(found.call_id))).toEqual(found);
});

it('no answer to a caller without the scope operate contains an attempt', async () => {
  const { caller } = await gateway().caller({}, [...workspaceScopes]);
  const run = await caller.submit(model, input);
  await note(run, [attempt()]);
  const path = `/v2/models/${model}/requests/${run.requestId}`;
  const seen = async (): Promise<[string, number, boolean][]> => {
    const answers: [string, number, boolean][] = [];
    for (const route of [
      path,
      `${path}/status`,
      `/v2/requests/${run.requestId}`,
      `/v2/requests?request_id=${run.requestId}`,
      '/v2/requests',
      `/v2/requests/${run.requestId}/input`,
      '/v2/webhooks/deliveries',
      '/v2/usage',
      `/v2/operator/runs/${run.requestId}`,
      `/v2/operator/runs?request_id=${run.requestId}`,
      '/v2/operator/providers/bfl/attempts',
    ]) {
      const { status, bytes } = await caller.call('GET', route);
      const text = bytes.toString();
      answers.push([route, status, text.includes(mark) || text.includes('provider_attempts')]);
    }
    return answers;
  };
  const live = await seen();
  await gateway().finish(run, {
    outcome: 'failed',
    bucket: 'provider_error',
    status: 502,
    detail: 'It failed.',
    billable: false,
  });
  const all = [...live, ...(await seen())];
  expect(all.filter(([, , isSeen]) => isSeen)).toEqual([]);
  expect(all.filter(([route]) => route.includes('/operator/')).map(([, status]) => status)).toEqual(
    Array(6).fill(403),
  );
  expect(all.map(([, status]) => status)).toContain(502);
});

it('404: no such run, or not an id', async () => {
  const operator = await asOperator();
  for (const id of [v7(), 'nothing'])
    expect((await operator.call('GET', `/v2/operator/runs/${id}`)).status).toBe(404);
});
