import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['run', 'requests'];

it.each([
  ['a small one', '{ "prompt":"é",\n"seed":18446744073709551615, "x":1.0, "x":1 }'],
  [
    'one that is stored outside the database',
    `{ "prompt":"é", "input_image":"${'x'.repeat(2 * 1024 * 1024)}" }`,
  ],
])('the input is returned byte for byte: %s', async (_what, body) => {
  const { caller } = await gateway().caller({}, scopes);
  const run = await caller.submit('bfl/flux-2-pro', body);
  const answer = await caller.call('GET', `/v2/requests/${run.requestId}/input`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(answer.bytes.equals(Buffer.from(body))).toBe(true);
});

it('the input is available for as long as the result', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const output = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') } as const;
  await gateway().finish(run, output, { ago: '23 hours' });
  const answer = await caller.call('GET', `/v2/requests/${run.requestId}/input`);
  expect(answer.bytes.toString()).toBe('{"prompt":"x"}');
});
