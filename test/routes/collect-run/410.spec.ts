import { expect, it } from '@jest/globals';
import { waitFor } from '../../harness/index.js';
import { gatewayForFile } from '../gateways.js';

const gateway = gatewayForFile({ RESULT_RETENTION_SECONDS: '60', TOMBSTONE_RETENTION_SECONDS: '60' });

it('is reached as time passes, without anybody deleting anything', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await gateway().finish(run, {
    outcome: 'succeeded',
    mediaType: 'application/json',
    body: Buffer.from('{}'),
  });
  const seen = new Set<number>();
  const until = (status: number) =>
    waitFor(async () => seen.add((await caller.collect(run)).status).has(status), {
      withinMs: 20_000,
      what: `the run to answer ${status}`,
      everyMs: 50,
    });
  await until(200);
  // A second is left of each time: the next one is long enough to be seen.
  for (const status of [410, 404]) {
    await gateway().completedEarlier(run, 59);
    await until(status);
  }
  expect([...seen]).toEqual([200, 410, 404]);
  expect((await gateway().storedInput(run)).toString()).toBe('{"prompt":"x"}');
});
