import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  ['25 hours', 410],
  ['8 days 1 hour', 404],
])(
  'depends on the clock, as for the result: %s after the end of a run the answer is %i',
  async (ago, status) => {
    const { caller } = await gateway().caller({}, ['run', 'requests']);
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
    const output = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') } as const;
    await gateway().finish(run, output, { ago });
    const answer = await caller.call('GET', `/v2/requests/${run.requestId}/input`);
    expect([answer.status, answer.bucket]).toEqual([status, 'invalid_input']);
  },
);
