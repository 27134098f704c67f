import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['operate', 'everything', '', 'run,operate'])('the scopes %j are rejected', async (scopes) => {
  const { caller } = await gateway().caller({}, ['manage', 'run', 'operate']);
  const answer = await caller.call('POST', `/v2/sign-in/links?scopes=${scopes}`);
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
