import { expect, it } from '@jest/globals';
import { requestPath } from './request-path.js';

it.each([
  ['/v2/models?limit=1', '/v2/models'],
  ['/v%31/models', '/v1/models'],
  ['/%6eodes?search=%31', '/nodes'],
  ['http://x:80/nodes?limit=1', '/nodes'],
  ['HTTPS://x', ''],
  ['/nodes%2Fa', '/nodes%2Fa'],
  ['/v2/%zz', '/v2/%zz'],
  ['*', '*'],
])('the path of %s is %s', (url, path) => {
  expect(requestPath(url)).toBe(path);
});
