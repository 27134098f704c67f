import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/models/bfl/flux-2-pro/requests';

it('names every rejected field, with the bucket only in the header', async () => {
  const { caller } = await gateway().caller();
  const body =
    '{"width":32,"output_format":"gif","webhook_url":"https://caller.example","__proto__":{"prompt":"x"}}';
  const answer = await caller.call('POST', path, { body });
  expect([answer.status, answer.bucket]).toEqual([422, 'invalid_input']);
  const { detail, ...rest } = answer.json() as { detail: { loc: unknown[]; type: string }[] };
  expect(rest).toEqual({});
  expect(detail.map(({ loc, type }) => [loc, type])).toEqual(
    expect.arrayContaining([
      [['body', 'prompt'], 'missing'],
      [['body', 'width'], 'greater_than_equal'],
      [['body', 'output_format'], 'enum'],
      [['body', 'webhook_url'], 'extra_forbidden'],
    ]),
  );
  expect(detail).toHaveLength(4);
});

it('the key is free again', async () => {
  const { caller } = await gateway().caller();
  const headers = { 'idempotency-key': 'k' };
  expect((await caller.call('POST', path, { body: '{}', headers })).status).toBe(422);
  expect((await caller.call('POST', path, { body: '{"prompt":"x"}', headers })).status).toBe(201);
});
