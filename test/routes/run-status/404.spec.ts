import { describe, expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const unknown = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

describe.each([
  ['GET', '/status'],
  ['GET', ''],
  ['PUT', '/cancel'],
])('%s …/requests/{request_id}%s', (method, rest) => {
  it('gives one answer for unknown ids, ids of another workspace, and a wrong model', async () => {
    const owner = await gateway().caller();
    const stranger = await gateway().caller();
    const run = await owner.caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
    const ask = (caller: typeof owner.caller, model: string, id: string) =>
      caller.call(method, `/v2/models/${model}/requests/${id}${rest}`);
    const answers = [
      await ask(owner.caller, 'bfl/flux-2-pro', unknown),
      await ask(stranger.caller, 'bfl/flux-2-pro', run.requestId),
      await ask(owner.caller, 'bfl/flux-2-flex', run.requestId),
      await ask(owner.caller, 'nobody/nothing', run.requestId),
      await ask(owner.caller, 'bfl/flux-2-pro', run.requestId.toUpperCase()),
      await ask(owner.caller, 'bfl/flux-2-pro', 'x'),
      await ask(owner.caller, 'bfl/flux-2-pro', '%zz'),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
      expect(answer.bytes.toString()).toBe(answers[0]?.bytes.toString());
    }
    expect((await ask(owner.caller, 'bfl/flux-2-pro', run.requestId)).status).toBeLessThan(300);
  });

  it('answers malformed segments like unknown models', async () => {
    const { caller } = await gateway().caller();
    for (const id of ['BFL/x', 'bfl/x--y', 'bfl/flux-2/pro']) {
      const answer = await caller.call(method, `/v2/models/${id}/requests/${unknown}${rest}`);
      expect([answer.status, answer.bucket]).toEqual([404, 'model_not_found']);
    }
  });
});
