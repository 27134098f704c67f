import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  ['no JSON', '['],
  ['no name', '{"scopes":["run"]}'],
  ['an empty name', '{"name":" ","scopes":["run"]}'],
  ['a name of two lines', '{"name":"a\\nb","scopes":["run"]}'],
  ['half a surrogate pair in the name', '{"name":"\\ud800","scopes":["run"]}'],
  ['no scopes', '{"name":"a","scopes":[]}'],
  ['an unknown scope', '{"name":"a","scopes":["everything"]}'],
  ['the scope of operators', '{"name":"a","scopes":["operate"]}'],
  ['an expiry in the past', '{"name":"a","scopes":["run"],"expires_at":"2020-01-01T00:00:00Z"}'],
  ['an expiry that is not a time', '{"name":"a","scopes":["run"],"expires_at":"soon"}'],
  ['an unknown field', '{"name":"a","scopes":["run"],"expires":1}'],
])('rejects %s', async (_what, body) => {
  const { caller } = await gateway().caller({}, ['manage', 'run', 'operate']);
  const answer = await caller.call('POST', '/v2/keys', { body });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
