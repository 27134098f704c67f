import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/webhooks/secret';

it('GET shows the workspace’s secret, and POST makes a new one', async () => {
  const { caller, workspace } = await gateway().caller({}, ['manage']);
  const before = await caller.call('GET', path);
  expect([before.status, before.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(before.json()).toEqual({ secret: workspace.webhookSecrets[0] });
  const after = await caller.call('POST', path);
  expect(after.status).toBe(200);
  expect(after.json()['secret']).toMatch(/^whsec_/);
  expect(after.json()).not.toEqual(before.json());
  expect((await caller.call('GET', path)).json()).toEqual(after.json());
  const { webhookSecrets } = await gateway().operate((all) => all.find(workspace.id));
  expect(webhookSecrets).toEqual([after.json()['secret'], before.json()['secret']]);
});

it('each of several simultaneous rotations returns its own secret', async () => {
  const { caller } = await gateway().caller({}, ['manage']);
  const made = await Promise.all(Array.from({ length: 10 }, () => caller.call('POST', path)));
  expect(new Set(made.map((answer) => answer.json()['secret'])).size).toBe(10);
});
