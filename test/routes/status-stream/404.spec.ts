import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = (model: string, id: string) => `/v2/models/${model}/requests/${id}/status`;

it('an unknown run, another workspace’s and one under a wrong model answer like a status call', async () => {
  const [{ caller }, { caller: stranger }] = [await gateway().caller(), await gateway().caller()];
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  for (const [who, at] of [
    [stranger, path(run.model, run.requestId)],
    [caller, path('bfl/flux-pro-1.1', run.requestId)],
    [caller, path(run.model, '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234')],
    [caller, path(run.model, 'none')],
    [caller, path('Bfl/flux', run.requestId)],
  ] as const) {
    const [stream, status] = [await who.call('GET', `${at}/stream`), await who.call('GET', at)];
    expect([stream.status, stream.bytes.toString()]).toEqual([404, status.bytes.toString()]);
    expect(stream.headers.get('content-type')).toBe(status.headers.get('content-type'));
  }
});
