import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a key has the tags of its maker, which it cannot contradict', async () => {
  const { keyWith } = await gateway().caller();
  const maker = await keyWith({ project: 'alpha' }, ['manage', 'run']);
  const made = (tags: object) =>
    maker.call('POST', '/v2/keys', { body: JSON.stringify({ name: 'a', scopes: ['run'], tags }) });
  const refused = await made({ project: 'beta' });
  expect([refused.status, refused.bucket]).toEqual([403, 'forbidden']);
  expect((await made({ team: 'web' })).json()['tags']).toEqual({ project: 'alpha', team: 'web' });
  const full = Object.fromEntries(Array.from({ length: 16 }, (_, nth) => [`t${nth}`, 'x']));
  const many = await made(full);
  expect([many.status, many.json()['detail']]).toEqual([400, expect.stringContaining('at most 16 tags')]);
  expect((await made({ ...full, project: 'alpha' })).status).toBe(400);
  expect((await made({ Project: 'alpha' })).status).toBe(400);
});

it('a caller cannot grant a scope it does not have', async () => {
  const { caller } = await gateway().caller({}, ['manage', 'run']);
  const body = '{"name":"a","scopes":["run","usage"]}';
  const answer = await caller.call('POST', '/v2/keys', { body });
  expect([answer.status, answer.bucket]).toEqual([403, 'forbidden']);
  expect(answer.json()['detail']).toContain('"usage"');
  expect((await caller.call('GET', '/v2/keys')).json()['data']).toHaveLength(1);
});
