import { sealCursor } from '#catalog';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const ours = { secrets: ['a-secret-of-tests-for-cursors-00000000'], nowMs: Date.now() };

it.each([
  ['an unknown state', 'status=FAILED'],
  ['an unknown outcome', 'outcome=timeout'],
  ['an unknown bucket', 'error_type=none'],
  ['a malformed model id', 'model=flux'],
  ['a key that is not an id', 'key=rk_live_x'],
  ['a tag without a value', 'tag=project'],
  ['a repeated tag', 'tag=a=b&tag=c=d'],
  ['an empty user', 'user='],
  ['a malformed time', 'from=yesterday'],
  ['a repeated time', 'to=2026-01-01&to=2026-01-02'],
  ['a limit that is not an integer', 'limit=many'],
  ['a made-up cursor', 'cursor=abc'],
  ['a cursor of the catalog', `cursor=${sealCursor('0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234', ours)}`],
])('rejects %s as invalid_input', async (_what, query) => {
  const { caller } = await gateway().caller({}, ['requests']);
  const answer = await caller.call('GET', `/v2/requests?${query}`);
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
