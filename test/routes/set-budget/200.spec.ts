import { type RouterBudget, routerBudget } from '#schemas';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['run', 'manage'];
const model = 'bfl/flux-2-pro';

it('creates a budget, replaces it as a whole, and counts from then on', async () => {
  const { caller, workspace } = await gateway().caller({}, scopes);
  await caller.submit(model, '{"prompt":"before"}');
  const set = async (body: object) => {
    const answer = await caller.call('PUT', '/v2/budgets/web.monthly', { body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    return routerBudget.parse(answer.json());
  };
  expect(await set({ window: 'total', limit_cents: 500 })).toEqual({
    name: 'web.monthly',
    scope: 'workspace',
    window: 'total',
    time_zone: 'UTC',
    limit_cents: 500,
    kind: 'hard',
    raises: [],
    current: { limit_cents: 500, spent_cents: 0, reserved_cents: 0 },
  });
  const run = await caller.submit(model, '{"prompt":"after"}');
  const [{ reserved }] = (await gateway().database.work.query(
    'SELECT reserved_micros::float / 10000 AS reserved FROM run WHERE id = $1',
    [run.requestId],
  )) as [{ reserved: number }];
  const [from, until] = ['2026-01-01T00:00:00Z', '2999-01-01T00:00:00+01:00'];
  const rest = {
    window: 'month',
    time_zone: 'Europe/Berlin',
    limit_cents: 100,
    kind: 'soft',
    webhook_url: 'https://hooks.example.com/a?b',
    raises: [{ amount_cents: 50, from, until }],
  };
  const changed = await set(rest);
  expect(changed).toMatchObject({
    ...rest,
    raises: [{ amount_cents: 50, from: '2026-01-01T00:00:00.000Z', until: '2998-12-31T23:00:00.000Z' }],
    current: { limit_cents: 150, spent_cents: 0, reserved_cents: reserved },
  });
  expect(reserved).toBeGreaterThan(0);
  expect(Object.keys(changed.current)).toEqual(expect.arrayContaining(['starts_at', 'resets_at']));

  expect((await caller.call('GET', '/v2/budgets')).json()['data']).toEqual([changed]);
  expect((await caller.call('GET', '/v2/budgets/web.monthly')).json()).toEqual(changed);
  const actions = await gateway().database.work.query<{ actor: string; budget: string }>(
    `SELECT actor, subject AS budget FROM operator_action WHERE action = 'budget.set' AND details ->> 'workspace' = $1`,
    [workspace.name],
  );
  expect(actions.map(({ budget }) => budget)).toEqual(['web.monthly', 'web.monthly']);
  expect(actions[0]?.actor).toMatch(/^key:/);
});

it.each([
  ['2026-01-01T00:00:00+23:59', '2027-01-01T00:00:00-23:59'],
  ['0000-01-01T00:00:00Z', '2999-01-01T00:00:00Z'],
  ['0000-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59'],
  [`2026-01-01T00:00:00.${'0'.repeat(200)}1Z`, `2999-01-01T00:00:00.${'9'.repeat(200)}Z`],
  [`2026-01-01T00:00:00.${'0'.repeat(200)}1+01:00`, `2999-01-01T00:00:00.${'9'.repeat(20)}+01:00`],
])('whatever time of a raise is accepted, admissions can read it: %s', async (from, until) => {
  const { caller } = await gateway().caller({}, scopes);
  const body = JSON.stringify({
    window: 'day',
    limit_cents: 10_000,
    raises: [{ amount_cents: 1, from, until }],
  });
  expect([200, 400]).toContain((await caller.call('PUT', '/v2/budgets/odd', { body })).status);
  expect((await caller.call('GET', '/v2/budgets')).status).toBe(200);
  await caller.submit(model, '{"prompt":"x"}');
});

it('has a limit for each value, which are listed in pages', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const body = JSON.stringify({ scope: 'user', none: 'counted', window: 'week', limit_cents: 500 });
  const set = (await caller.call('PUT', '/v2/budgets/users', { body })).json() as unknown as RouterBudget;
  expect(Object.keys(set.current)).not.toContain('spent_cents');
  expect(set.none).toBe('counted');
  await caller.submit(model, '{"prompt":"x"}');
  for (const user of ['anna', 'bob'])
    await caller.submit(model, '{"prompt":"x"}', { headers: { 'x-service-user': user } });
  const page = async (query: string) => (await caller.call('GET', `/v2/budgets/users/values${query}`)).json();
  const first = await page('?limit=2');
  const next = await page(`?limit=2&cursor=${encodeURIComponent(String(first['next_cursor']))}`);
  const values = [first, next].flatMap(({ data }) => data as { value: string; reserved_cents: number }[]);
  expect(values.map(({ value }) => value)).toEqual(['', 'anna', 'bob']);
  expect(new Set(values.map(({ reserved_cents }) => reserved_cents)).size).toBe(1);
});
