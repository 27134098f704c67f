import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

const fields = [
  {
    loc: ['body', 'image', 0, 'url'],
    msg: 'Größer als erlaubt',
    type: 'too_long',
    ctx: { zeta: 1, max_length: 5, alpha: { b: 1, a: [1.5, null] } },
    input: { b: '\u2028', a: 1e-7 },
  },
  { loc: ['body'], msg: 'Too rude', type: 'provider_reason', input: null },
];

it('a failure has the same bytes in the first answer, in a replay and when collected', async () => {
  const { caller, workspace } = await gateway().caller();
  const call = { body: '{"prompt":"x"}', headers: { 'idempotency-key': 'failing' } };
  const answering = caller.call('POST', '/v2/models/bfl/flux-2-pro', call);
  const run = await gateway().admittedRun(workspace);
  await gateway().finish(run, {
    outcome: 'failed',
    bucket: 'invalid_input',
    status: 422,
    detail: 'Rejected.',
    fields,
    billable: false,
  });
  const first = await answering;
  expect([first.status, first.bucket]).toEqual([422, 'invalid_input']);
  expect(first.json()).toEqual({ detail: fields });
  const replayed = await caller.call('POST', '/v2/models/bfl/flux-2-pro', call);
  expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  const collected = await caller.collect(run);
  expect([replayed, collected].map(({ bytes }) => bytes.toString())).toEqual([
    first.bytes.toString(),
    first.bytes.toString(),
  ]);
});
