import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/models/bfl/flux-2-pro/requests';

it('a run that the credits do not cover is rejected, and its key is free again', async () => {
  const { caller, workspace } = await gateway().caller({ balanceMicros: 0 });
  const options = { body: '{"prompt":"x"}', headers: { 'idempotency-key': 'k' } };
  const refused = await caller.call('POST', path, options);
  expect([refused.status, refused.bucket]).toEqual([402, 'insufficient_credits']);
  await gateway().operate((workspaces) =>
    workspaces.change(workspace.name, { addedMicros: 10_000_000, note: 'test' }, 'test'),
  );
  const admitted = await caller.call('POST', path, options);
  expect(admitted.status).toBe(201);
  expect(admitted.headers.get('idempotent-replayed')).toBeNull();
});
