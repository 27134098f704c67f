import type { Ending } from '#persistence';
import type { OperatorWorkspace } from '#schemas';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { operatorActions } from '../operator-actions.js';

const gateway = sharedGateway();
const succeeded: Ending = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') };
const failed: Ending = {
  outcome: 'failed',
  bucket: 'provider_error',
  status: 502,
  detail: 'no',
  billable: false,
};
const model = 'bfl/flux-2-pro';
const input = '{"prompt":"x"}';
const path = (requestId: string) => `/v2/operator/runs/${requestId}/refund`;

it('a billed run is refunded once by concurrent calls, and the others get 409', async () => {
  const { caller, workspace } = await gateway().caller({ balanceMicros: 5_000_000 });
  const run = await caller.submit(model, input);
  await gateway().finish(run, succeeded);
  const operator = (await gateway().caller({}, ['operate'])).caller;
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      operator.call('POST', path(run.requestId), { body: '{"note":"broken"}' }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
    200, 409, 409, 409, 409,
  ]);
  const refund = answers.find(({ status }) => status === 200)?.json();
  expect(refund).toEqual({
    request_id: run.requestId,
    workspace: { id: workspace.id, name: workspace.name },
    model,
    refunded_cents: expect.any(Number),
    credits_cents: 500,
  });
  expect(refund?.['refunded_cents']).toBeGreaterThan(0);
  const state = await operator.call('GET', `/v2/operator/workspaces/${workspace.id}`);
  expect((state.json() as unknown as OperatorWorkspace).credits_cents).toBe(500);
  expect(await operatorActions(gateway(), run.requestId)).toMatchObject([
    { actor: expect.stringMatching(/^key:/), action: 'run.refund', details: { note: 'broken' } },
  ]);
  const again = await operator.call('POST', path(run.requestId), { body: '{}' });
  expect([again.status, again.bucket, again.json()['detail']]).toEqual([
    409,
    'invalid_input',
    'The run was already refunded.',
  ]);
});

it('a run that has not ended or was not billed gets 409', async () => {
  const { caller } = await gateway().caller();
  const live = await caller.submit(model, input);
  const free = await caller.submit(model, input);
  await gateway().finish(free, failed);
  const operator = (await gateway().caller({}, ['operate'])).caller;
  for (const [run, detail] of [
    [live, /has not ended/],
    [free, /was not billed/],
  ] as const) {
    const answer = await operator.call('POST', path(run.requestId), { body: '{}' });
    expect([answer.status, answer.bucket]).toEqual([409, 'invalid_input']);
    expect(answer.json()['detail']).toMatch(detail);
  }
});
