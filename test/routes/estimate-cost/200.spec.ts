import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const model = '/v2/models/bfl/flux-2-pro';

it('the answer is the cost of a run for this workspace, and no run is admitted', async () => {
  const { caller } = await gateway().caller({ markup: 2, balanceMicros: 0 }, ['run', 'requests']);
  const small = await caller.call('POST', `${model}/cost`, {
    body: '{"prompt":"x","width":1024,"height":1024}',
  });
  expect([small.status, small.json()]).toEqual([
    200,
    {
      expected_cents: 6,
      reserved_cents: 9,
      max_cents: 9,
      basis: expect.stringMatching(/^(computed|reported)$/),
    },
  ]);
  const large = await caller.call('POST', `${model}/cost`, {
    body: '{"prompt":"x","width":2048,"height":1024}',
  });
  expect(Number(large.json()['expected_cents'])).toBeGreaterThan(6);
  expect((await caller.call('GET', '/v2/requests')).json()).toMatchObject({ data: [] });
});

it('the answer equals what a run reserves, to the micro-dollar', async () => {
  // In binary fractions 45,000 * 1.1 is more than 49,500.
  const { caller } = await gateway().caller({ markup: 1.1 }, ['run', 'requests']);
  const body = '{"prompt":"x","width":1024,"height":1024}';
  const estimate = await caller.call('POST', `${model}/cost`, { body });
  expect(estimate.json()).toMatchObject({ reserved_cents: 4.95 });
  const run = await caller.submit('bfl/flux-2-pro', body);
  const rows = await gateway().database.reads.query(
    'SELECT reserved_micros::integer AS micros FROM run WHERE id = $1',
    [run.requestId],
  );
  expect(rows).toEqual([{ micros: 49_500 }]);
});

it('fields that a run would reject are rejected', async () => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('POST', `${model}/cost`, { body: '{"prompt":1}' });
  expect([answer.status, answer.json()]).toMatchObject([422, { detail: [{ loc: ['body', 'prompt'] }] }]);
});

it('fields that are most likely typos are pointed out, in rejections too', async () => {
  const { caller } = await gateway().caller();
  const typo = await caller.call('POST', `${model}/cost`, { body: '{"prompt":"x","hieght":1024}' });
  expect([typo.status, typo.headers.get('x-service-unknown-fields')]).toEqual([200, 'hieght (height?)']);
  const missing = await caller.call('POST', `${model}/cost`, { body: '{"promt":"x"}' });
  expect([missing.status, missing.headers.get('x-service-unknown-fields')]).toEqual([422, 'promt (prompt?)']);
});
