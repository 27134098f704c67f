import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const raise = (from: string, until: string) => ({ amount_cents: 1, from, until });

it.each([
  ['a limit of zero', { limit_cents: 0 }, 'limit_cents'],
  ['an unknown window', { window: 'year' }, 'window'],
  ['an unknown time zone', { time_zone: 'Europe/Atlantis' }, 'time_zone'],
  ['an offset as the time zone', { time_zone: '+02:00' }, 'time_zone'],
  ['an ambiguous abbreviation as the time zone', { time_zone: 'CST' }, 'time_zone'],
  ['an unknown scope', { scope: 'team' }, 'scope'],
  ['a malformed name of a tag', { scope: 'tag:a b' }, 'scope'],
  ['a malformed value of a tag', { scope: 'tag:a', value: 'b,c' }, 'value'],
  ['a malformed glob', { scope: 'model', value: 'BFL/{a,b}' }, 'value'],
  ['models without a glob', { scope: 'model' }, 'value'],
  ['a value of the workspace', { value: 'x' }, 'value'],
  ['a word on no end user for one user', { scope: 'user', value: 'anna', none: 'counted' }, 'none'],
  ['a word on no end user for models', { scope: 'model', value: '*', none: 'counted' }, 'none'],
  ['a malformed end user', { scope: 'user', value: 'a b' }, 'value'],
  ['a key that is not one', { scope: 'key', value: 'ck_1' }, 'value'],
  ['the key of others', { scope: 'key', value: '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234' }, 'value'],
  ['a private webhook', { webhook_url: 'https://10.0.0.1/' }, 'webhook_url'],
  ['an unknown field', { limit: 1 }, 'limit'],
  [
    'a raise of nothing',
    { raises: [{ ...raise('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'), amount_cents: 0 }] },
    'raises',
  ],
  [
    'a raise that ends before it begins',
    { raises: [raise('2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z')] },
    'raises',
  ],
  [
    'raises that overlap',
    {
      raises: [
        raise('2026-01-03T00:00:00Z', '2026-01-05T00:00:00Z'),
        raise('2026-01-01T00:00:00Z', '2026-01-03T00:00:00.001Z'),
      ],
    },
    'raises',
  ],
])('rejects %s, and names the field', async (_what, given, field) => {
  const { caller } = await gateway().caller({}, ['manage']);
  const body = JSON.stringify({ window: 'day', limit_cents: 1, ...given });
  const answer = await caller.call('PUT', '/v2/budgets/daily', { body });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect(answer.json()['detail']).toContain(field);
  expect((await caller.call('GET', '/v2/budgets')).json()['data']).toEqual([]);
});

it('rejects a malformed name', async () => {
  const { caller } = await gateway().caller({}, ['manage']);
  const body = '{"window":"day","limit_cents":1}';
  for (const name of ['a%20b', 'x'.repeat(65)])
    expect(await caller.call('PUT', `/v2/budgets/${name}`, { body })).toMatchObject({
      status: 400,
      bucket: 'invalid_input',
    });
});
