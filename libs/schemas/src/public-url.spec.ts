import { describe, expect, it } from '@jest/globals';
import { isPublicAddress, refusalOf } from './public-url.js';

const refusal = (url: string) => refusalOf(new URL(url));

describe('a URL that does not come from the operator', () => {
  it.each([
    ['a name', 'https://delivery.bfl.ai/results/1.png?sig=a'],
    ['a public address', 'https://93.184.216.34/a'],
    ['a public IPv6 address', 'https://[2606:2800:220:1:248:1893:25c8:1946]/a'],
    ['an explicit https port', 'https://example.com:443/a'],
  ])('may be called with %s', (_what, url) => {
    expect(refusal(url)).toBeNull();
  });

  it.each([
    ['dotted', 'https://127.0.0.1/'],
    ['short', 'https://127.1/'],
    ['as one number', 'https://2130706433/'],
    ['in hexadecimal', 'https://0x7f000001/'],
    ['half in hexadecimal', 'https://0x7f.1/'],
    ['in octal', 'https://0177.0.0.1/'],
    ['percent-encoded', 'https://%31%32%37.0.0.1/'],
    ['in full-width digits', 'https://１２７.０.０.１/'],
    ['with a trailing dot', 'https://127.0.0.1./'],
    ['anywhere in its network', 'https://127.200.3.4/'],
    ['as IPv6', 'https://[::1]/'],
    ['as IPv6 in full', 'https://[0:0:0:0:0:0:0:1]/'],
    ['mapped into IPv6', 'https://[::ffff:127.0.0.1]/'],
    ['mapped into IPv6 in hexadecimal', 'https://[::ffff:7f00:1]/'],
    ['as the address of every interface', 'https://0.0.0.0/'],
    ['as the IPv6 address of every interface', 'https://[::]/'],
  ])('may not name this machine %s', (_how, url) => {
    expect(refusal(url)).toMatch(/is not a public address/);
  });

  it.each([
    ['a private network', 'https://10.1.2.3/'],
    ['another private network', 'https://172.16.0.1/'],
    ['a home network', 'https://192.168.1.1/'],
    ['a carrier’s network', 'https://100.64.0.1/'],
    ['the cloud metadata service', 'https://169.254.169.254/latest/meta-data/'],
    ['the cloud metadata service over IPv6', 'https://[fd00:ec2::254]/'],
    ['a link-local address', 'https://[fe80::1]/'],
    ['the broadcast address', 'https://255.255.255.255/'],
    ['a multicast group', 'https://224.0.0.1/'],
    ['an address translated from IPv4', 'https://[64:ff9b::7f00:1]/'],
    ['a tunnel to IPv4', 'https://[2002:7f00:1::]/'],
    ['a tunnel to a public IPv4 address', 'https://[2002:5db8:d822::1]/'],
    ['a Teredo tunnel', 'https://[2001:0:5db8:d822::1]/'],
    ['a public IPv4 address mapped into IPv6', 'https://[::ffff:93.184.216.34]/'],
    ['a public IPv4 address translated', 'https://[64:ff9b::5db8:d822]/'],
    ['an address translated for local use', 'https://[64:ff9b:1::7f00:1]/'],
    ['an address in the obsolete compatible form', 'https://[::127.0.0.1]/'],
    ['a private one in that form', 'https://[::a00:1]/'],
    ['a public one in that form', 'https://[::5db8:d822]/'],
    ['the SIIT form of an address', 'https://[::ffff:0:7f00:1]/'],
    ['an obsolete site-local address', 'https://[fec0::1]/'],
  ])('may not name %s', (_what, url) => {
    expect(refusal(url)).toMatch(/is not a public address/);
  });

  it.each([
    ['http', 'http://example.com/', /http: is not https/],
    ['a file', 'file:///etc/passwd', /file: is not https/],
    ['inline data', 'data:text/plain,a', /data: is not https/],
    ['another port', 'https://example.com:8443/', /port 8443/],
    ['the port of the database', 'https://example.com:5432/', /port 5432/],
  ])('may not be %s', (_what, url, reason) => {
    expect(refusal(url)).toMatch(reason);
  });
});

describe('an address', () => {
  it.each(['', 'localhost', '127.1', '::7f00:1', '::ffff:10.0.0.1', '::ffff:93.184.216.34', '127.0.0.1'])(
    '%j is not public',
    (address) => {
      expect(isPublicAddress(address)).toBe(false);
    },
  );

  it.each(['93.184.216.34', '2606:2800:220:1::1', '2a00:1450:4001:82b::200e'])('%j is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});
