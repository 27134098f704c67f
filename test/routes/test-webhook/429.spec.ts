import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('refuses the eleventh test event of a minute', async () => {
  const { caller } = await gateway().caller({}, ['manage']);
  const send = () =>
    caller.call('POST', '/v2/webhooks/test', { body: '{"url":"https://hooks.example.com/test"}' });
  for (let sent = 0; sent < 10; sent += 1) expect((await send()).status).toBe(202);
  const answer = await send();
  expect([answer.status, answer.json()['error_type']]).toEqual([429, 'rate_limited']);
});
