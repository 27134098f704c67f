import { WebhookRepository } from '#persistence';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const called = (problem?: string) => ({
  at: '2026-01-02T03:04:05.678Z',
  durationMs: 40,
  ...(problem !== undefined && { problem }),
  payload: '{}',
});

const gateway = sharedGateway();

it('a webhook that was given up becomes due at once, with all its attempts', async () => {
  const { caller } = await gateway().caller({}, ['run', 'manage']);
  const query = `?webhook_url=${encodeURIComponent('https://hooks.example.com/a')}`;
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}', { query });
  const output = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') } as const;
  await gateway().finish(run, output);
  const webhooks = new WebhookRepository(gateway().database, { RESULT_RETENTION_SECONDS: 86_400 });
  await webhooks.failed(
    { runId: run.requestId, tries: 0, redeliveries: 0 },
    called('answered HTTP 500'),
    null,
  );
  expect(await webhooks.begin(run.requestId)).toBeNull();
  const answer = await caller.call('POST', `/v2/webhooks/deliveries/${run.requestId}/redeliver`);
  expect([answer.status, answer.json()]).toEqual([
    202,
    expect.objectContaining({ request_id: run.requestId, state: 'pending', tries: 0 }),
  ]);
  expect(Date.parse(String(answer.json()['next_try_at']))).toBeLessThanOrEqual(Date.now());
  expect(await webhooks.begin(run.requestId)).toMatchObject({ tries: 0 });
});
