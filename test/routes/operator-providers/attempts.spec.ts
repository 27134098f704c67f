import { AttemptRepository, type NotedAttempt } from '#persistence';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
// A provider that no other file here uses, because all files share one database.
const model = 'tripo/text-to-model-v2.5';

const attempt = (status: number): NotedAttempt => ({
  provider: 'tripo',
  phase: 'poll',
  status,
  class: 'provider_failed',
  reading: 'The provider failed.',
  count: 1,
  firstAgoMs: 0,
  lastAgoMs: 0,
});

it('200: the last attempts of the newest five runs, newest first', async () => {
  const { caller } = await gateway().caller();
  const attempts = new AttemptRepository(gateway().database);
  const runIds: string[] = [];
  for (let nth = 0; nth < 7; nth += 1) {
    const { requestId: runId } = await caller.submit(model, '{"prompt":"x"}');
    await attempts.note([{ runId, leftOut: 0, attempts: [attempt(500), attempt(502)] }]);
    runIds.unshift(runId);
  }
  const operator = (await gateway().caller({}, ['operate'])).caller;
  const answer = await operator.call('GET', '/v2/operator/providers/tripo/attempts');
  expect([answer.status, answer.json()]).toMatchObject([
    200,
    {
      data: runIds.slice(0, 5).map((request_id) => ({ request_id, attempt: { status: 502, phase: 'poll' } })),
    },
  ]);
});

it('404: no such provider', async () => {
  const operator = (await gateway().caller({}, ['operate'])).caller;
  expect((await operator.call('GET', '/v2/operator/providers/nobody/attempts')).status).toBe(404);
});
