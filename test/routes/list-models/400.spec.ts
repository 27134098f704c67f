import { expect, it } from '@jest/globals';
import { sealCursor } from '#catalog';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const ours = 'a-secret-of-tests-for-cursors-00000000';

it.each([
  ['a limit that is not an integer', 'limit=many'],
  ['a limit with decimals', 'limit=1.5'],
  ['an empty limit', 'limit='],
  ['a repeated limit', 'limit=1&limit=2'],
  ['a made-up cursor', 'cursor=abc'],
  ['an empty cursor', 'cursor='],
  ['a cursor that is too long', `cursor=${'a'.repeat(513)}`],
  ['a cursor with foreign characters', 'cursor=%00%ff'],
  ['a repeated cursor', 'cursor=a&cursor=b'],
  [
    'a cursor signed with another secret',
    `cursor=${sealCursor('bfl/flux-2-pro', { secrets: ['another-secret-of-sufficient-length'], nowMs: Date.now() })}`,
  ],
  [
    'an expired cursor',
    `cursor=${sealCursor('bfl/flux-2-pro', { secrets: [ours], nowMs: Date.now() - 25 * 3_600_000 })}`,
  ],
])('rejects %s as invalid_input', async (_what, query) => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('GET', `/v2/models?${query}`);
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
