import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('returns what the upload returned', async () => {
  const { caller } = await gateway().caller();
  const uploaded = await caller.call('POST', '/v2/files', { body: Buffer.from('%PDF-1.7') });
  const path = `/v2/files/${String(uploaded.json()['id'])}`;
  const looked = await caller.call('GET', path);
  expect([looked.status, { ...looked.json(), url: '' }]).toEqual([200, { ...uploaded.json(), url: '' }]);
  const file = await fetch(String(looked.json()['url']).replace('http://assets.test', gateway().url));
  expect(await file.text()).toBe('%PDF-1.7');
});
