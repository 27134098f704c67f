import { describe, expect, it } from '@jest/globals';
import type { Ending } from '#persistence';
import type { Answer } from '../../harness/index.js';
import { gatewayForFile } from '../gateways.js';

const gateway = gatewayForFile({ RESULT_RETENTION_SECONDS: '3600', TOMBSTONE_RETENTION_SECONDS: '7200' });
const hour = 3600;
const unknown = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
const succeeded: Ending = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') };
const failed: Ending = {
  outcome: 'failed',
  bucket: 'provider_error',
  status: 502,
  detail: 'Failed.',
  billable: false,
};

const outline = ({ status, bucket }: Answer) => [status, bucket];

describe.each([
  ['GET', '/status', [200, undefined]],
  ['GET', '', [200, undefined]],
  ['PUT', '/cancel', [400, 'invalid_input']],
])('%s …/requests/{request_id}%s', (method, rest, kept) => {
  const ask = (caller: Awaited<ReturnType<ReturnType<typeof gateway>['caller']>>['caller'], id: string) =>
    caller.call(method, `/v2/models/bfl/flux-2-pro/requests/${id}${rest}`);

  it('answers as ever until the result ages out, then 410, then the common 404, by the clock alone', async () => {
    const owner = await gateway().caller();
    const stranger = await gateway().caller();
    const run = await owner.caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
    await gateway().finish(run, succeeded);

    await gateway().completedEarlier(run, hour - 60);
    expect(outline(await ask(owner.caller, run.requestId))).toEqual(kept);

    await gateway().completedEarlier(run, 60);
    const goneLike = (await ask(owner.caller, unknown)).bytes.toString();
    const aged = await ask(owner.caller, run.requestId);
    expect(outline(aged)).toEqual([410, 'invalid_input']);
    expect(aged.json()).toEqual({ detail: expect.stringContaining('aged out'), error_type: 'invalid_input' });
    const foreign = await ask(stranger.caller, run.requestId);
    expect([foreign.status, foreign.bytes.toString()]).toEqual([404, goneLike]);
    const wrongModel = await owner.caller.call(
      method,
      `/v2/models/bfl/flux-2-flex/requests/${run.requestId}${rest}`,
    );
    expect([wrongModel.status, wrongModel.bytes.toString()]).toEqual([404, goneLike]);

    await gateway().completedEarlier(run, 2 * hour);
    const forgotten = await ask(owner.caller, run.requestId);
    expect([forgotten.status, forgotten.bytes.toString()]).toEqual([404, goneLike]);
  });

  it('answers 410 for a run that failed, too', async () => {
    const { caller } = await gateway().caller();
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
    await gateway().finish(run, failed);
    await gateway().completedEarlier(run, hour);
    expect(outline(await ask(caller, run.requestId))).toEqual([410, 'invalid_input']);
  });
});
