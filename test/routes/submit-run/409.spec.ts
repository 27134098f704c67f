import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/models/bfl/flux-2-pro/requests';

it('tags and users are no part of the request that a key stands for: a retry joins the run with its own', async () => {
  const { caller } = await gateway().caller({}, ['run', 'requests']);
  const submit = (more: Record<string, string>) =>
    caller.call('POST', path, { body: '{"prompt":"x"}', headers: { 'idempotency-key': 'k', ...more } });
  const first = await submit({ 'x-service-tags': 'project=alpha', 'x-service-user': 'u' });
  const again = await submit({ 'x-service-tags': 'project=beta' });
  expect([again.status, again.bytes.toString()]).toEqual([201, first.bytes.toString()]);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  const run = await caller.call('GET', `/v2/requests/${String(first.json()['request_id'])}`);
  expect(run.json()).toMatchObject({ tags: { project: 'alpha' }, user: 'u' });
});

it.each([
  ['another body', path, '{"prompt":"y"}'],
  ['other white space', path, '{"prompt": "x"}'],
  ['another model', '/v2/models/bfl/flux-pro-1.1/requests', '{"prompt":"x"}'],
  ['another query', `${path}?a=1`, '{"prompt":"x"}'],
  ['another webhook', `${path}?webhook_url=https://hooks.example/a`, '{"prompt":"x"}'],
])('a used key with %s is rejected, and the first run is not affected', async (_what, otherPath, body) => {
  const { caller } = await gateway().caller();
  const headers = { 'idempotency-key': 'k' };
  const first = await caller.call('POST', path, { body: '{"prompt":"x"}', headers });
  const conflict = await caller.call('POST', otherPath, { body, headers });
  expect([conflict.status, conflict.bucket]).toEqual([409, 'invalid_input']);
  const again = await caller.call('POST', path, { body: '{"prompt":"x"}', headers });
  expect(again.bytes.toString()).toBe(first.bytes.toString());
});
