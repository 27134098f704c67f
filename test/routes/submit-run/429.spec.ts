import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/models/bfl/flux-2-pro/requests';
const body = '{"prompt":"x"}';

it('a run that alone could cost more than the limit on committed spend is rejected, and told that waiting will not help', async () => {
  const { caller } = await gateway().caller({ committedLimitMicros: 15_000 });
  const answer = await caller.call('POST', path, { body });
  expect([answer.status, answer.bucket]).toEqual([429, 'concurrency_limit_exceeded']);
  expect(answer.json()['detail']).toContain('waiting will not help');
  expect(answer.headers.get('x-committed-spend-limit')).toBe('1');
  expect(answer.headers.get('x-committed-spend-current')).toBe('0');
  expect(answer.headers.get('x-committed-spend-remaining')).toBe('1');
  expect(answer.headers.get('retry-after')).toBeNull();
});

it('a run beyond the backlog is rejected, without the headers of spend', async () => {
  const { caller } = await gateway().caller({ inflightLimit: 1, backlogLimit: 1 });
  await caller.submit('bfl/flux-2-pro', body);
  await caller.submit('bfl/flux-2-pro', body);
  const answer = await caller.call('POST', path, { body });
  expect([answer.status, answer.bucket]).toEqual([429, 'concurrency_limit_exceeded']);
  expect(answer.headers.get('x-committed-spend-limit')).toBeNull();
});

it('names the window that is used up', async () => {
  const { caller } = await gateway().caller({ windowLimit: 0 });
  const answer = await caller.call('POST', path, { body });
  expect([answer.status, answer.bucket]).toEqual([429, 'rate_limited']);
  expect(answer.json()['detail']).toContain('per minute');
});
