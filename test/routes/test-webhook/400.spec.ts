import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  ['{}', /^url: /],
  ['{"url":"http://hooks.example.com/"}', /^url must be a public https URL/],
  ['{"url":"https://10.0.0.1/"}', /^url must be a public https URL/],
  ['{"url":"https://user:password@hooks.example.com/"}', /^url must not contain a user name/],
])('rejects %s', async (body, detail) => {
  const { caller } = await gateway().caller({}, ['manage']);
  const answer = await caller.call('POST', '/v2/webhooks/test', { body });
  expect([answer.status, answer.json()]).toEqual([
    400,
    { detail: expect.stringMatching(detail), error_type: 'invalid_input' },
  ]);
});
