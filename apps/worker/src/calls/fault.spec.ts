import { describe, expect, it } from '@jest/globals';
import { RefusedAddress } from './outbound-agents.js';
import { faultOf, NotConnected } from './fault.js';

const failing = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });

describe('what a failed call proves', () => {
  it.each([
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['ECONNREFUSED', 'connect'],
    ['EHOSTUNREACH', 'connect'],
    ['ECONNRESET', 'connect'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['EPROTO', 'tls'],
  ])('%s while connecting: nothing was sent (%s)', (code, cause) => {
    expect(faultOf(new NotConnected(failing(code)))).toEqual({ fault: 'not_sent', cause });
  });

  it('a blocked address: nothing was sent', () => {
    const error = new NotConnected(new RefusedAddress('127.0.0.1'));
    expect(faultOf(error)).toEqual({ fault: 'not_sent', cause: 'refused_address' });
  });

  it('no address could be reached: nothing was sent', () => {
    const tried = new AggregateError([failing('ECONNREFUSED'), failing('EHOSTUNREACH')]);
    expect(faultOf(new NotConnected(tried))).toEqual({ fault: 'not_sent', cause: 'connect' });
    expect(faultOf(new NotConnected(new AggregateError([])))).toEqual({
      fault: 'not_sent',
      cause: 'connect',
    });
  });

  it('a request that cannot be built, such as one whose key is not a valid header: nothing was sent', () => {
    expect(faultOf(failing('UND_ERR_INVALID_ARG'))).toEqual({ fault: 'not_sent', cause: 'no_key' });
  });

  it.each(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'HPE_INVALID_CONSTANT', 'UND_ERR_DESTROYED'])(
    '%s on an established connection: the call may have been accepted',
    (code) => {
      expect(faultOf(failing(code))).toEqual({ fault: 'ambiguous', cause: 'reset' });
    },
  );

  it.each(['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', 'EPROTO', 'ECONNREFUSED', 'ENOTFOUND'])(
    '%s on an established connection: proves nothing, whatever its name suggests',
    (code) => {
      expect(faultOf(failing(code, { syscall: 'connect' }))).toEqual({ fault: 'ambiguous', cause: 'reset' });
    },
  );

  it.each([failing('ETIMEDOUT'), failing('UND_ERR_BODY_TIMEOUT'), new DOMException('late', 'TimeoutError')])(
    '%s: no answer in time',
    (error) => {
      expect(faultOf(error)).toEqual({ fault: 'ambiguous', cause: 'timeout' });
    },
  );

  it.each([undefined, null, 'text', 1])('%p: the call may have been accepted', (thrown) => {
    expect(faultOf(thrown)).toEqual({ fault: 'ambiguous', cause: 'reset' });
  });
});
