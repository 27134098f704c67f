import { describe, expect, it } from '@jest/globals';
import type { Ending } from '#persistence';
import type { Answer, Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const unknown = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
const succeeded: Ending = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') };
const failed: Ending = {
  outcome: 'failed',
  bucket: 'provider_error',
  status: 502,
  detail: 'Failed.',
  billable: false,
};

/** The id of a run that ended `ago`. */
const finished = async (caller: Caller, ending: Ending, ago: string) => {
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await gateway().finish(run, ending, { ago });
  return run.requestId;
};

const outline = ({ status, bucket }: Answer) => [status, bucket];

describe.each([
  ['GET', '/status', [200, undefined]],
  ['GET', '', [200, undefined]],
  ['PUT', '/cancel', [400, 'invalid_input']],
])('%s …/requests/{request_id}%s', (method, rest, kept) => {
  const ask = (caller: Caller, id: string, model = 'bfl/flux-2-pro') =>
    caller.call(method, `/v2/models/${model}/requests/${id}${rest}`);

  it('answers as usual until the result expires, then 410, then 404, by the clock alone', async () => {
    const { caller: owner } = await gateway().caller();
    const { caller: stranger } = await gateway().caller();
    const goneLike = (await ask(owner, unknown)).bytes.toString();

    const young = await finished(owner, succeeded, '23 hours 55 minutes');
    expect(outline(await ask(owner, young))).toEqual(kept);

    const old = await finished(owner, succeeded, '24 hours');
    const aged = await ask(owner, old);
    expect(outline(aged)).toEqual([410, 'invalid_input']);
    expect(aged.json()).toEqual({ detail: expect.stringContaining('aged out'), error_type: 'invalid_input' });
    for (const hidden of [await ask(stranger, old), await ask(owner, old, 'bfl/flux-2-flex')])
      expect([hidden.status, hidden.bytes.toString()]).toEqual([404, goneLike]);

    const forgotten = await ask(owner, await finished(owner, succeeded, '8 days'));
    expect([forgotten.status, forgotten.bytes.toString()]).toEqual([404, goneLike]);
  });

  it('answers 410 for a run that failed, too', async () => {
    const { caller } = await gateway().caller();
    expect(outline(await ask(caller, await finished(caller, failed, '24 hours')))).toEqual([
      410,
      'invalid_input',
    ]);
  });
});
