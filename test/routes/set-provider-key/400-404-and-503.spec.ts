import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const without = sharedGateway('small');

it.each([
  ['no key', '{}'],
  ['an empty key', '{"key":""}'],
  ['a line feed', '{"key":"a\\nb"}'],
  ['a space at its end', '{"key":"a "}'],
  ['a character that no header may have', '{"key":"clé-secrète"}'],
  ['8,193 characters', JSON.stringify({ key: 'x'.repeat(8_193) })],
  ['another member', '{"key":"x","name":"y"}'],
])('%s is rejected, and the answer does not repeat it', async (_what, body) => {
  const { caller } = await gateway().caller({}, ['provider_keys']);
  const answer = await caller.call('PUT', '/v2/provider-keys/bfl', { body });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect(answer.bytes.toString()).not.toMatch(/secr|xxx/);
  expect((await caller.call('GET', '/v2/provider-keys')).json()).toEqual({ data: [] });
});

it('an unknown provider is a 404 with suggestions', async () => {
  const { caller } = await gateway().caller({}, ['provider_keys']);
  for (const [name, suggested] of [
    ['repplicate', 'replicate'],
    // The first segment of ids that another provider serves.
    ['vertexai', 'google'],
  ]) {
    const answer = await caller.call('PUT', `/v2/provider-keys/${name}`, { body: '{"key":"x"}' });
    expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
    expect(answer.json()['detail']).toContain(suggested);
  }
});

it('a router without a public key stores none', async () => {
  const { caller } = await without().caller({}, ['provider_keys']);
  const answer = await caller.call('PUT', '/v2/provider-keys/bfl', { body: '{"key":"x"}' });
  expect([answer.status, answer.bucket]).toEqual([503, 'service_unavailable']);
  expect(answer.json()['detail']).toMatch(/does not store provider keys/);
  expect((await caller.call('GET', '/v2/provider-keys')).json()).toEqual({ data: [] });
});
