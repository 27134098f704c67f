import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('suggests up to three similar models', async () => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('GET', '/v2/models/bfl/flux-2-prp');
  expect([answer.status, answer.bucket]).toEqual([404, 'model_not_found']);
  const detail = String(answer.json()['detail']);
  expect(detail).toContain('Did you mean bfl/flux-2-pro');
  expect(detail.match(/\w+\/[\w.-]+/g)?.length).toBeLessThanOrEqual(3);
});

it('the document of an unknown model has the same answer', async () => {
  const { caller } = await gateway().caller();
  const path = '/v2/models/bfl/flux-2-prp';
  const [entry, document] = [
    await caller.call('GET', path),
    await caller.call('GET', `${path}/openapi.json`),
  ];
  expect([document.status, document.bucket]).toEqual([404, 'model_not_found']);
  expect(document.bytes.equals(entry.bytes)).toBe(true);
});

it('a model that the caller may not see is unknown, and is not suggested', async () => {
  const { caller } = await gateway().caller({ visible: ['fal/*'] });
  for (const asked of ['bfl/flux-2-pro', 'bfl/flux-2-prp']) {
    const answer = await caller.call('GET', `/v2/models/${asked}`);
    expect([answer.status, answer.bucket]).toEqual([404, 'model_not_found']);
    expect(answer.json()['detail']).not.toContain('bfl/');
  }
});

it('a path of three segments suggests the joined id first', async () => {
  const { caller } = await gateway().caller();
  const run = '/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
  for (const [method, rest] of [
    ['GET', ''],
    ['GET', '/openapi.json'],
    ['POST', ''],
    ['POST', '/cost'],
    ['POST', '/requests'],
    ['GET', run],
    ['GET', `${run}/status`],
    ['GET', `${run}/status/stream`],
    ['PUT', `${run}/cancel`],
  ] as const) {
    const answer = await caller.call(method, `/v2/models/bfl/flux-2/pro${rest}`);
    expect([answer.status, answer.bucket]).toEqual([404, 'model_not_found']);
    expect(answer.json()['detail']).toContain('Did you mean bfl/flux-2-pro,');
  }
});

it.each(['BFL/flux-2-pro', 'bfl/%zz', 'bfl/%ff', 'bfl/a%2Fb', 'bfl/-x', `bfl/${'a'.repeat(129)}`, 'b%00/x'])(
  'the malformed id %s answers like an unknown one',
  async (id) => {
    const { caller } = await gateway().caller();
    const answer = await caller.call('GET', `/v2/models/${id}`);
    expect([answer.status, answer.bucket]).toEqual([404, 'model_not_found']);
  },
);
