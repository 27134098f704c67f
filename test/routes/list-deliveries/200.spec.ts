import { WebhookRepository } from '#persistence';
import type { Page, RouterWebhookDelivery } from '#schemas';
import { expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const called = (problem?: string) => ({
  at: '2026-01-02T03:04:05.678Z',
  durationMs: 40,
  ...(problem !== undefined && { problem }),
  payload: '{}',
});

const gateway = sharedGateway();
const scopes = ['run', 'requests'];
const model = 'bfl/flux-2-pro';
const hook = 'https://hooks.example.com/a';
const output = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') } as const;

async function ended(caller: Caller): Promise<string> {
  const query = `?webhook_url=${encodeURIComponent(hook)}`;
  const run = await caller.submit(model, '{"prompt":"x"}', { query });
  await gateway().finish(run, output);
  return run.requestId;
}

const page = async (caller: Caller, query = '') =>
  (await caller.call('GET', `/v2/webhooks/deliveries${query}`)).json() as Page<RouterWebhookDelivery>;

it('shows the state of each webhook, newest run first, and filters by state', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const webhooks = new WebhookRepository(gateway().database, { RESULT_RETENTION_SECONDS: 86_400 });
  const [delivered, givenUp, failing] = [await ended(caller), await ended(caller), await ended(caller)];
  await webhooks.delivered({ runId: delivered, redeliveries: 0 }, called());
  await webhooks.failed({ runId: givenUp, tries: 0, redeliveries: 0 }, called('answered HTTP 500'), null);
  await webhooks.failed(
    { runId: failing, tries: 0, redeliveries: 0 },
    called('no answer within 10 s'),
    60_000,
  );
  const { data, has_more } = await page(caller);
  const time = expect.any(String);
  const each = { model, url: hook, form: 'standard', tries: 1, created_at: time };
  const [problem, other] = ['answered HTTP 500', 'no answer within 10 s'];
  expect([has_more, data]).toEqual([
    false,
    [
      { ...each, request_id: failing, state: 'pending', problem: other, next_try_at: time },
      { ...each, request_id: givenUp, state: 'given_up', problem, ended_at: time },
      { ...each, request_id: delivered, state: 'delivered', ended_at: time },
    ],
  ]);
  for (const { state, request_id } of data)
    expect((await page(caller, `?state=${state}`)).data).toMatchObject([{ request_id }]);
});

it('returns pages, and nothing of another workspace', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const ids = [await ended(caller), await ended(caller), await ended(caller)].toReversed();
  const first = await page(caller, '?limit=2');
  const second = await page(caller, `?limit=2&cursor=${encodeURIComponent(first.next_cursor ?? '')}`);
  expect([...first.data, ...second.data].map(({ request_id }) => request_id)).toEqual(ids);
  expect([first.has_more, second.has_more, second.next_cursor]).toEqual([true, false, undefined]);
  const stranger = await gateway().caller({}, scopes);
  expect(await page(stranger.caller)).toEqual({ data: [], has_more: false, limit: 20 });
});
