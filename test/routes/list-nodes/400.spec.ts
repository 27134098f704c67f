import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  'page=x',
  'page=1.5',
  'page=1e9',
  'page=0x10',
  'page=',
  'page=%00',
  'page=%zz',
  'page=1&page=2',
  'limit=ten',
  'limit=10;drop',
  'limit=NaN',
  'include_banned=maybe',
  'include_banned=',
  'latest=2',
  'latest=true&latest=true',
  'timestamp=yesterday',
  'timestamp=',
  'timestamp=2024-02-30',
  'supported_os=a&supported_os=b',
  'sort=rank',
  'sort=tags',
  'sort=translations',
  'sort=publisher_banned',
  'sort=downloads;asc',
  'sort=downloads;desc;desc',
  'sort=downloads desc',
  'sort=id;DROP TABLE node;desc',
  'sort=constructor',
  'sort=__proto__',
  'sort=toString;desc',
  'sort=%00',
])('rejects ?%s', async (query) => {
  const answer = await fetch(`${gateway().url}/nodes?${query}`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    400,
    'application/json; charset=utf-8',
  ]);
  expect(await answer.json()).toEqual({ error: 'invalid_input', message: expect.any(String) });
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
});
