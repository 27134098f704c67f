import { expect, it } from '@jest/globals';
import { waitFor } from '../../harness/index.js';
import { gatewayForFile } from '../gateway-for-file.js';

const gateway = gatewayForFile({ RESULT_RETENTION_SECONDS: '1', TOMBSTONE_RETENTION_SECONDS: '2' });

it('is reached as time passes, without anybody deleting anything', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await gateway().finish(run, {
    outcome: 'succeeded',
    mediaType: 'application/json',
    body: Buffer.from('{}'),
  });
  const seen = new Set<number>();
  await waitFor(async () => seen.add((await caller.collect(run)).status).has(404), {
    withinMs: 10_000,
    what: 'the run to be forgotten',
    everyMs: 50,
  });
  expect([...seen]).toEqual([200, 410, 404]);
  expect((await gateway().storedInput(run)).toString()).toBe('{"prompt":"x"}');
});
