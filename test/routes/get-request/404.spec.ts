import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['run', 'requests', 'manage'];
const nobodys = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

it.each([
  ['GET', '/v2/requests/{id}'],
  ['GET', '/v2/requests/{id}/input'],
  ['POST', '/v2/webhooks/deliveries/{id}/redeliver'],
])(
  '%s %s answers alike for another workspace’s run, an unknown one and a malformed id',
  async (method, path) => {
    const { caller: owner } = await gateway().caller({}, scopes);
    const { caller: stranger } = await gateway().caller({}, scopes);
    const run = await owner.submit('bfl/flux-2-pro', '{"prompt":"x"}', {
      query: `?webhook_url=${encodeURIComponent('https://hooks.example.com/a')}`,
    });
    const output = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') } as const;
    await gateway().finish(run, output);
    const ask = (id: string, caller = stranger) => caller.call(method, path.replace('{id}', id));
    const answers = await Promise.all([run.requestId, nobodys, 'x', `${nobodys}0`].map((id) => ask(id)));
    for (const answer of answers) {
      expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
      expect(answer.bytes.toString()).toBe(answers[0]?.bytes.toString());
    }
    expect((await ask(run.requestId, owner)).status).toBeLessThan(300);
  },
);
