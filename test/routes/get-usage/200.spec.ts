import { ApiKeyRepository, type Ending } from '#persistence';
import type { RouterUsageResponse } from '#schemas';
import { expect, it } from '@jest/globals';
import { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['run', 'usage'];
const input = '{"prompt":"x"}';
const output = Buffer.from('{}');
const succeeded: Ending = { outcome: 'succeeded', mediaType: 'application/json', body: output };
const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

const usage = async (caller: Caller, query = '') =>
  (await caller.call('GET', `/v2/usage${query}`)).json() as RouterUsageResponse;

it('finished runs are added up by day, model and key, even after they expired', async () => {
  const { caller, workspace, keyId } = await gateway().caller({}, scopes);
  const made = await new ApiKeyRepository(gateway().database).create(
    workspace.id,
    {
      name: 'other',
      scopes,
      expiresAt: null,
    },
    { actor: 'test' },
  );
  const other = new Caller(() => [gateway().url], made.key);
  await gateway().finish(await caller.submit('bfl/flux-2-pro', input), succeeded);
  await gateway().finish(await caller.submit('bfl/flux-2-flex', input), succeeded);
  const cancelled = await other.submit('bfl/flux-2-pro', input);
  await other.cancel(cancelled);
  await gateway().finish(await other.submit('bfl/flux-2-pro', input), succeeded, { ago: '72 hours' });
  await caller.submit('bfl/flux-2-pro', input);

  const byDay = await usage(caller);
  expect(byDay.data).toMatchObject([
    { day: day(3), runs: 1, succeeded: 1 },
    { day: day(0), runs: 3, succeeded: 2 },
  ]);
  const [first, second] = byDay.data.map(({ cost_cents }) => cost_cents);
  expect(byDay.total).toEqual({ runs: 4, succeeded: 3, cost_cents: (first ?? 0) + (second ?? 0) });
  expect(byDay.total.cost_cents).toBeGreaterThan(0);

  expect((await usage(caller, '?group_by=model')).data).toMatchObject([
    { model: 'bfl/flux-2-flex', runs: 1 },
    { model: 'bfl/flux-2-pro', runs: 3, succeeded: 2 },
  ]);
  const byKey = await usage(caller, `?group_by=key,day&from=${day(1)}`);
  expect(byKey.group_by).toEqual(['key', 'day']);
  expect(new Set(byKey.data.map(({ key_id, runs, succeeded: good }) => `${key_id} ${runs} ${good}`))).toEqual(
    new Set([`${keyId} 2 2`, `${made.row.id} 1 0`]),
  );
  expect((await usage(caller, `?to=${day(1)}`)).total).toMatchObject({ runs: 1 });
  expect((await usage(caller, `?to=${day(10)}`)).data).toEqual([]);
});

it('finished runs are added up by end user and by the values of one tag', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const finish = async (headers: Record<string, string>) =>
    gateway().finish(await caller.submit('bfl/flux-2-pro', input, { headers }), succeeded);
  await finish({ 'x-service-tags': 'project=alpha,team=web', 'x-service-user': 'u1' });
  await finish({ 'x-service-tags': 'project=beta' });
  await finish({ 'x-service-tags': 'project=alpha' });
  await finish({});
  expect((await usage(caller, '?group_by=tag:project')).data).toMatchObject([
    { tags: { project: 'alpha' }, runs: 2 },
    { tags: { project: 'beta' }, runs: 1 },
    { runs: 1 },
  ]);
  const byUser = await usage(caller, '?group_by=model,user');
  expect(byUser).toMatchObject({
    group_by: ['model', 'user'],
    data: [{ model: 'bfl/flux-2-pro', user: 'u1', runs: 1 }, { runs: 3 }],
    total: { runs: 4 },
  });
  expect(byUser.data[1]).not.toHaveProperty('user');
});

it('a workspace sees nothing of another one', async () => {
  const { caller } = await gateway().caller({}, scopes);
  await gateway().finish(await caller.submit('bfl/flux-2-pro', input), succeeded);
  const stranger = await gateway().caller({}, scopes);
  expect(await usage(stranger.caller)).toMatchObject({
    data: [],
    total: { runs: 0, succeeded: 0, cost_cents: 0 },
  });
});
