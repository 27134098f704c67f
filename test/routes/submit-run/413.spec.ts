import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway('small');
const path = '/v2/models/bfl/flux-2-pro/requests';
const bodyOf = (bytes: number) => `{"prompt":"${'x'.repeat(bytes - 13)}"}`;

it('one byte above the limit is rejected, with or without Content-Length', async () => {
  const { caller } = await gateway().caller();
  expect((await caller.call('POST', path, { body: bodyOf(10_000) })).status).toBe(201);
  const announced = await caller.call('POST', path, { body: bodyOf(10_001) });
  expect([announced.status, announced.bucket]).toEqual([413, 'invalid_input']);

  const stream = new Blob([bodyOf(10_001)]).stream();
  const chunked = await fetch(`${gateway().url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': caller.key, 'content-type': 'application/json' },
    body: stream,
    duplex: 'half',
  });
  expect([chunked.status, chunked.headers.get('x-service-error-type')]).toEqual([413, 'invalid_input']);
  await chunked.body?.cancel();
});

it('the gateway stays usable after bodies far above the limit', async () => {
  const { caller } = await gateway().caller();
  for (let nth = 0; nth < 3; nth += 1) {
    expect((await caller.call('POST', path, { body: bodyOf(5_000_000) })).status).toBe(413);
  }
  expect((await caller.call('POST', path, { body: '{"prompt":"x"}' })).status).toBe(201);
});
