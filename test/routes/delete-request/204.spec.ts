import type { Ending } from '#persistence';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { operatorActions } from '../operator-actions.js';

const gateway = sharedGateway();
const scopes = ['run', 'requests', 'usage', 'manage'];
const model = 'bfl/flux-2-pro';
const output = Buffer.from('{"secret":"output"}');
const succeeded: Ending = { outcome: 'succeeded', mediaType: 'application/json', body: output };

it('the data of a run is gone at once: its result and input answer 410, and it stays listed and billed', async () => {
  const { caller, keyId } = await gateway().caller({}, scopes);
  const run = await caller.submit(model, '{"prompt":"secret"}');
  await gateway().finish(run, succeeded);
  const before = (await caller.call('GET', `/v2/requests/${run.requestId}`)).json();
  for (let times = 0; times < 2; times += 1) {
    const answer = await caller.call('DELETE', `/v2/requests/${run.requestId}`);
    expect([answer.status, answer.bytes.length]).toEqual([204, 0]);
    expect(answer.headers.get('x-service-run-id')).toBe(run.requestId);
  }
  const input = await caller.call('GET', `/v2/requests/${run.requestId}/input`);
  for (const answer of [input, await caller.collect(run), await caller.status(run), await caller.cancel(run)])
    expect([answer.status, answer.bucket]).toEqual([410, 'invalid_input']);
  const {
    status_url: _status,
    response_url: _response,
    cancel_url: _cancel,
    attempts: _attempts,
    expires_at: _expiry,
    asset_count: _assets,
    ...kept
  } = before;
  const after = (await caller.call('GET', `/v2/requests/${run.requestId}`)).json();
  expect(after).toEqual({ ...kept, result_available: false });
  expect((await caller.call('GET', '/v2/requests')).json()['data']).toEqual([after]);
  expect((await caller.call('GET', '/v2/usage')).json()['total']).toMatchObject({
    runs: 1,
    cost_cents: before['cost_cents'],
  });
  expect(await operatorActions(gateway(), run.requestId)).toMatchObject([
    { actor: `key:${keyId}`, action: 'run.delete' },
  ]);
});

it('a large output and the copied files are deleted from the store, although links to them still work', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const run = await caller.submit(model, `{"prompt":"${'x'.repeat(300 * 1024)}"}`);
  expect((await gateway().storedInput(run)).beside).toBe(true);
  await gateway().finish(run, succeeded);
  await gateway().database.work.query(
    `UPDATE stored_object SET link_expires_at = router_now() + interval '1 day' WHERE owner_id = $1`,
    [run.requestId],
  );
  expect((await caller.call('DELETE', `/v2/requests/${run.requestId}`)).status).toBe(204);
  expect(await gateway().objectsOf(run)).toEqual({ rows: 0, files: [] });
});

it('a retry with the key of a deleted run does not begin another one', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const submit = () =>
    caller.call('POST', `/v2/models/${model}/requests`, {
      body: '{"prompt":"x"}',
      headers: { 'idempotency-key': 'k' },
    });
  const first = await submit();
  const requestId = String(first.json()['request_id']);
  await gateway().finish({ requestId, model, body: '' }, succeeded);
  expect((await caller.call('DELETE', `/v2/requests/${requestId}`)).status).toBe(204);
  const again = await submit();
  expect([again.status, again.bytes.toString()]).toEqual([201, first.bytes.toString()]);
  expect((await caller.call('GET', '/v2/requests')).json()['data']).toHaveLength(1);
});

it('a run is deleted by the id of the call that began it too', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const submitted = await caller.call('POST', `/v2/models/${model}/requests`, { body: '{"prompt":"x"}' });
  const requestId = String(submitted.json()['request_id']);
  await gateway().finish({ requestId, model, body: '' }, succeeded);
  const callId = submitted.headers.get('x-service-request-id');
  const answer = await caller.call('DELETE', `/v2/requests/${callId}`);
  expect([answer.status, answer.headers.get('x-service-run-id')]).toEqual([204, requestId]);
  expect((await caller.collect({ requestId, model, body: '' })).status).toBe(410);
});
