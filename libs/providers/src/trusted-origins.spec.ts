import { describe, expect, it } from '@jest/globals';

import { exactOrigin, isCallableUrl } from './trusted-origins.js';

describe('isCallableUrl', () => {
  it.each([
    ['https://api.us1.bfl.ai/v1/get_result?id=1', 'https://api.bfl.ai', true],
    ['http://api.us1.bfl.ai/v1/get_result?id=1', 'https://api.bfl.ai', false],
    ['https://evil.example/v1/get_result?id=1', 'https://api.bfl.ai', false],
    ['https://bfl.ai.evil.example/v1/get_result', 'https://api.bfl.ai', false],
    ['http://127.0.0.1:4011/poll/1', 'http://127.0.0.1:4010', true],
    ['https://evil.example/poll/1', 'http://127.0.0.1:4010', false],
    ['https://api.bfl.ai@evil.example/', 'https://api.bfl.ai', false],
    ['https://:pass@evil.example/', 'https://api.bfl.ai', false],
    ['ftp://api.bfl.ai/', 'https://api.bfl.ai', false],
    ['file:///etc/passwd', 'http://127.0.0.1', false],
    ['/v1/get_result', 'https://api.bfl.ai', false],
    ['', 'https://api.bfl.ai', false],
  ])('%s beside %s: %s', (url, base, callable) => {
    expect(isCallableUrl(url, base, [/^https:\/\/(?:[a-z0-9-]+\.)*bfl\.ai$/])).toBe(callable);
  });
});

describe('exactOrigin', () => {
  it('matches exactly its own origin', () => {
    const pattern = exactOrigin('http://sim.local:4010/bfl');
    expect(pattern.test('http://sim.local:4010')).toBe(true);
    for (const other of [
      'http://simxlocal:4010',
      'xhttp://sim.local:4010',
      'http://sim.local:40101',
      'https://sim.local:4010',
      'http://a.sim.local:4010',
    ]) {
      expect([other, pattern.test(other)]).toEqual([other, false]);
    }
  });
});
