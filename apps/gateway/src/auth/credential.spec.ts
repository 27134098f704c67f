import { describe, expect, it } from '@jest/globals';
import { credentialOf } from './credential.js';

const key = 'rk_live_0123456789';
const token = 'aaa.bbb.ccc';

describe('credentialOf', () => {
  it.each([
    [{ 'x-api-key': key }, { kind: 'api_key', text: key }],
    [
      { 'x-api-key': key, authorization: `Bearer ${token}` },
      { kind: 'api_key', text: key },
    ],
    [
      { 'x-api-key': '', authorization: `Bearer ${token}` },
      { kind: 'api_key', text: '' },
    ],
    [{ authorization: `Bearer ${key}` }, { kind: 'api_key', text: key }],
    [{ authorization: `bEaReR   ${token} ` }, { kind: 'access_token', text: token }],
    [{ authorization: `Basic ${token}` }, null],
    [{ authorization: 'Bearer' }, null],
    [{ authorization: `Bearer ${token} x` }, null],
    [{ authorization: `Bearer ${'a.'.repeat(3000)}` }, null],
    [{}, null],
  ])('reads %j on v2', (headers, expected) => {
    expect(credentialOf(headers, 'v2')).toEqual(expected);
  });

  it.each([
    [
      { 'x-api-key': key, authorization: `Bearer ${token}` },
      { kind: 'access_token', text: token },
    ],
    [{ authorization: `Bearer ${key}` }, null],
    [{ 'x-api-key': key }, null],
  ])('reads %j on v1, where only access tokens count', (headers, expected) => {
    expect(credentialOf(headers, 'v1')).toEqual(expected);
  });
});
