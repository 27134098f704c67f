import { describe, expect, it } from '@jest/globals';
import type { HttpCall } from '../contract.js';
import { tc3 } from './tc3.js';

const secret = 'AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE:Gu5t9xGARNpq86cd98joQYCN3EXAMPLE';
const at = 1_551_113_065_999;
const call: HttpCall = {
  method: 'POST',
  url: 'https://cvm.tencentcloudapi.com/',
  headers: { 'content-type': 'application/json; charset=utf-8', 'x-tc-action': 'DescribeInstances' },
  body: Buffer.from(
    String.raw`{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}`,
  ),
};

describe('tc3', () => {
  it('signs the example from the provider’s documents as shown there', () => {
    expect(tc3('cvm')(secret, at, call)).toEqual({
      authorization:
        'TC3-HMAC-SHA256 Credential=AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host, Signature=72e494ea809ad7a8c8f7a4507b9bddcbaa8e581f516e8da2f66e2c5a96525168',
      'x-tc-timestamp': '1551113065',
    });
  });

  it.each<[string, Partial<HttpCall>]>([
    ['body', { body: Buffer.from('{"Limit": 2}') }],
    ['host', { url: 'https://cvm.tencentcloudapi.com:8443/' }],
    ['media type', { headers: { 'content-type': 'application/json' } }],
    ['query', { url: 'https://cvm.tencentcloudapi.com/?Limit=1' }],
    ['method', { method: 'GET' }],
  ])('gives a different signature for a different %s', (_what, change) => {
    expect(tc3('cvm')(secret, at, { ...call, ...change })).not.toEqual(tc3('cvm')(secret, at, call));
  });

  it('keeps the key out of the header, and throws for a body that is read while it is sent', () => {
    expect(tc3('cvm')(secret, at, call)['authorization']).not.toContain('Gu5t9x');
    expect(() => tc3('cvm')(secret, at, { ...call, pieces: [] })).toThrow('cannot be signed');
  });
});
