import type { Ending } from '#persistence';
import type { OperatorProvider } from '#schemas';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { operatorActions } from '../operator-actions.js';

const gateway = sharedGateway();
// A provider that no other file here uses, because all files share one database.
const model = 'recraft/creative-upscale';
const input = '{"image_url":"https://example.com/a.png"}';
const succeeded: Ending = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') };
const failed = (bucket: 'provider_error' | 'provider_timeout'): Ending => ({
  outcome: 'failed',
  bucket,
  status: 502,
  detail: 'no',
  billable: false,
});

it('shows how runs of each provider ended, and its current load', async () => {
  const { caller } = await gateway().caller({}, ['run']);
  await gateway().finish(await caller.submit(model, input), succeeded);
  await gateway().finish(await caller.submit(model, input), failed('provider_error'));
  await gateway().finish(await caller.submit(model, input), failed('provider_timeout'), { ago: '3 hours' });
  await gateway().finish(await caller.submit(model, input), failed('provider_error'), { ago: '25 hours' });
  await gateway().dispatch(await caller.submit(model, input));
  await caller.submit(model, input);
  const operator = await gateway().caller({}, ['operate']);
  const answer = await operator.caller.call('GET', '/v2/operator/providers');
  const { data } = answer.json() as { data: OperatorProvider[] };
  expect(data.length).toBeGreaterThan(30);
  expect(data.find(({ provider }) => provider === 'recraft')).toMatchObject({
    state: null,
    recent: { runs: 0, failed: 0, throttled: 0 },
    simulated: false,
    has_key: null,
    models: expect.arrayContaining([model, 'recraft/recraft-v4-vector']),
    pauses: [],
    pressure: {
      slots: { limit: 0, in_use: 0 },
      waiting: { runs: 1 },
      under_way: { runs: 1 },
      parked: { runs: 0, oldest_seconds: 0 },
    },
    last_hour: { requests: 2, succeeded: 1, errors: { provider_error: 1 } },
    last_day: { requests: 3, succeeded: 1, errors: { provider_error: 1, provider_timeout: 1 } },
  });
});

it('pausing a provider with a reason and resuming it are both recorded', async () => {
  const { caller, keyId } = await gateway().caller({}, ['operate']);
  const path = '/v2/operator/providers/vidu';
  const pause = async (reason: string) =>
    (
      await caller.call('POST', `${path}/pause`, { body: JSON.stringify({ reason }) })
    ).json() as OperatorProvider;
  expect((await pause(' maintenance ')).pauses).toEqual([
    {
      calls: 'submit',
      asked_by: 'operator',
      actor: `key:${keyId}`,
      since: expect.any(String),
      reason: 'maintenance',
    },
  ]);
  expect((await pause('still')).pauses).toMatchObject([{ reason: 'still' }]);
  expect((await caller.call('GET', path)).json()).toMatchObject({
    state: 'paused',
    pauses: [{ reason: 'still', actor: `key:${keyId}` }],
  });
  const resumed = await caller.call('DELETE', `${path}/pause`);
  expect([resumed.status, resumed.json()['pauses']]).toEqual([200, []]);
  const actor = `key:${keyId}`;
  expect(await operatorActions(gateway(), 'vidu')).toEqual([
    { actor, action: 'provider.pause', details: { reason: 'maintenance' } },
    { actor, action: 'provider.pause', details: { reason: 'still' } },
    { actor, action: 'provider.resume', details: {} },
  ]);
});
