import { describe, expect, it } from '@jest/globals';
import { routablePath } from './fastify-options.js';

describe('routablePath', () => {
  it.each([
    ['/v2/models', '/v2/models'],
    ['/a%20b?x=%zz', '/a%20b?x=%zz'],
    ['/a%zz', '/a%25zz'],
    ['/a%', '/a%25'],
    ['/%ff/%20?q=%20?r', '/%25ff/%2520?q=%20?r'],
  ])('routes %s as %s', (url, path) => expect(routablePath(url)).toBe(path));
});
