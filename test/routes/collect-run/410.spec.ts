import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  ['23 hours', 200],
  ['25 hours', 410],
  ['7 days 23 hours', 410],
  ['8 days 1 hour', 404],
])(
  'depends on the clock alone, even if nothing was deleted: %s after the end of a run the answer is %i',
  async (ago, status) => {
    const { caller } = await gateway().caller();
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
    await gateway().finish(
      run,
      { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') },
      { ago },
    );
    expect((await caller.collect(run)).status).toBe(status);
    expect((await gateway().storedInput(run)).bytes.toString()).toBe('{"prompt":"x"}');
  },
);
