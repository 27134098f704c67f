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

it.each([
  ['day', 429, 'rate_limited', 'It resets at '],
  ['total', 402, 'insufficient_credits', 'It does not reset.'],
])('names the budget of a %s that has no room', async (window, status, bucket, resets) => {
  const { caller } = await gateway().caller({}, ['run', 'manage']);
  await caller.call('PUT', '/v2/budgets/small', { body: `{"window":"${window}","limit_cents":1}` });
  const routes = [path, path.replace('/requests', ''), '/fal/proxy'];
  for (const route of routes) {
    const headers = { 'x-fal-target-url': 'https://queue.fal.run/bfl/flux-2-pro' };
    const answer = await caller.call('POST', route, { body, headers });
    expect(answer.status).toBe(status);
    const text = answer.bytes.toString();
    expect(text).toContain(
      'The budget \\"small\\" has no room for this call: it needs 7.5 cents; its limit is 1 cents, of which 0 are spent and 0 reserved.',
    );
    expect(text).toContain(resets);
    // The proxy answers as fal does.
    expect(answer.bucket ?? bucket).toBe(bucket);
    expect([...answer.headers.keys()].filter((name) => /retry-after|committed-spend/.test(name))).toEqual([]);
  }
});
