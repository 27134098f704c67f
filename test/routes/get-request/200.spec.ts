import type { Ending } from '#persistence';
import { expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['run', 'requests'];
const model = 'bfl/flux-2-pro';
const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);

const succeeded: Ending = {
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from('{"ok":true}'),
};

const read = async (caller: Caller, requestId: string) => {
  const answer = await caller.call('GET', `/v2/requests/${requestId}`);
  expect(answer.status).toBe(200);
  return answer.json();
};

it('a waiting run shows what is known so far, and a finished run shows everything', async () => {
  const { caller, keyId } = await gateway().caller({}, scopes);
  const run = await caller.submit(model, '{"prompt":"x"}');
  const url = `${gateway().url}/v2/models/${model}/requests/${run.requestId}`;
  const admitted = {
    request_id: run.requestId,
    model,
    key_id: keyId,
    key_name: 'test',
    created_at: time,
    granted_at: time,
    reserved_cents: expect.any(Number),
    status_url: `${url}/status`,
    response_url: url,
    cancel_url: `${url}/cancel`,
  };
  expect(await read(caller, run.requestId)).toEqual({
    ...admitted,
    status: 'IN_QUEUE',
    result_available: false,
    attempts: 0,
    asset_count: 0,
  });
  await gateway().finish(run, succeeded);
  const ended = await read(caller, run.requestId);
  expect(ended).toEqual({
    ...admitted,
    status: 'COMPLETED',
    outcome: 'succeeded',
    started_at: time,
    completed_at: time,
    expires_at: time,
    duration_ms: expect.any(Number),
    cost_cents: expect.any(Number),
    cost_basis: expect.stringMatching(/^(reported|computed|flat)$/),
    result_available: true,
    attempts: 1,
    asset_count: 0,
  });
  const [listed] = (await caller.call('GET', '/v2/requests')).json()['data'] as object[];
  expect(ended).toMatchObject(listed ?? {});
});

it('a failed run shows the reason and the rejected fields', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const failing = { outcome: 'failed', billable: false } as const;
  const broken = await caller.submit(model, '{"prompt":"x"}');
  const noImage = { ...failing, bucket: 'provider_error', status: 502, detail: 'No image came.' } as const;
  await gateway().finish(broken, noImage);
  expect(await read(caller, broken.requestId)).toMatchObject({
    error_type: 'provider_error',
    error_detail: 'No image came.',
    cost_cents: 0,
  });
  const rejected = await caller.submit(model, '{"prompt":"x"}');
  const fields = [{ loc: ['body', 'prompt'], msg: 'Too plain.', type: 'value_error' }];
  const unfit = { ...failing, bucket: 'invalid_input', status: 422, detail: 'Rejected.', fields } as const;
  await gateway().finish(rejected, { ...unfit, fields });
  expect(await read(caller, rejected.requestId)).toMatchObject({
    error_type: 'invalid_input',
    error_fields: fields,
  });
});

it('shows the number of submission attempts, and a requested cancellation', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const run = await caller.submit(model, '{"prompt":"x"}');
  await gateway().refuse(run);
  await gateway().dispatch(run);
  await caller.cancel(run);
  expect(await read(caller, run.requestId)).toMatchObject({
    status: 'IN_PROGRESS',
    attempts: 2,
    cancel_requested_at: time,
  });
});

it('shows the run’s webhook', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const hook = 'https://hooks.example.com/a';
  const run = await caller.submit(model, '{"prompt":"x"}', {
    query: `?webhook_url=${encodeURIComponent(hook)}`,
  });
  expect((await read(caller, run.requestId))['webhook']).toBeUndefined();
  await gateway().finish(run, succeeded);
  expect((await read(caller, run.requestId))['webhook']).toEqual({
    request_id: run.requestId,
    model,
    url: hook,
    form: 'standard',
    state: 'pending',
    tries: 0,
    created_at: time,
    next_try_at: time,
  });
});

it.each([
  ['https://hooks.example.com/a\0b', 'webhook_url'],
  [' https://hooks.example.com/a\0\n b ', 'fal_webhook'],
  ['HTTPS://Hooks.Example.com:443/a b', 'webhook_url'],
])('shows the URL that is called for the webhook %j', async (text, name) => {
  const { caller } = await gateway().caller({}, scopes);
  const query = `?${name}=${encodeURIComponent(text)}`;
  const run = await caller.submit(model, '{"prompt":"x"}', { query });
  await gateway().finish(run, succeeded);
  expect((await read(caller, run.requestId))['webhook']).toMatchObject({ url: new URL(text).href });
});

it('after the result has expired, shows what the records hold', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const run = await caller.submit(model, '{"prompt":"x"}');
  await gateway().finish(run, succeeded, { ago: '9 days' });
  const old = await read(caller, run.requestId);
  expect(old).toMatchObject({
    status: 'COMPLETED',
    result_available: false,
    cost_cents: expect.any(Number),
    completed_at: time,
  });
  expect(Object.keys(old)).toEqual(expect.not.arrayContaining(['attempts', 'asset_count', 'response_url']));
});
