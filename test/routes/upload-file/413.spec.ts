import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway('small');

it('one byte above the limit is rejected, with or without Content-Length, and nothing is kept', async () => {
  const { caller, workspace } = await gateway().caller();
  const upload = async (bytes: number) =>
    caller.call('POST', '/v2/files', { body: Buffer.alloc(bytes, 'x') });
  expect((await upload(10_000)).status).toBe(201);
  const announced = await upload(10_001);
  expect([announced.status, announced.bucket]).toEqual([413, 'invalid_input']);

  const chunked = await fetch(`${gateway().url}/v2/files`, {
    method: 'POST',
    headers: { 'x-api-key': caller.key },
    body: new Blob([Buffer.alloc(10_001, 'x')]).stream(),
    duplex: 'half',
  });
  expect([chunked.status, chunked.headers.get('x-service-error-type')]).toEqual([413, 'invalid_input']);
  await chunked.body?.cancel();

  const text = 'SELECT bytes FROM stored_object WHERE workspace_id = $1 AND delete_at > router_now()';
  const kept = await gateway().database.reads.query(text, [workspace.id]);
  expect(kept).toEqual([{ bytes: '10000' }]);
});
