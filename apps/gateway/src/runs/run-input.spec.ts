import { describe, expect, it } from '@jest/globals';
import { fingerprintOf, idempotencyKey } from './run-input.js';

describe('idempotencyKey', () => {
  it.each([undefined, 'a', '!~', 'k'.repeat(255)])('accepts %j', (key) => {
    expect(idempotencyKey(key)).toBe(key);
  });

  it.each(['', ' ', 'a b', 'a\t', 'é', 'k'.repeat(256), 'one, two'])('rejects %j', (key) => {
    expect(() => idempotencyKey(key)).toThrow('visible ASCII');
  });
});

const route = '/v2/models/:provider/:model';

interface Called {
  route?: string;
  query?: string;
  id?: string;
  headers?: Record<string, string>;
}

function fingerprint(called: Called, ...chunks: Buffer[]): string {
  const { route: url = route, query = '', id = 'bfl/flux', headers = {} } = called;
  const call = { originalUrl: `/as/it/came${query}`, routeOptions: { url } as never, headers };
  const print = fingerprintOf(call, id);
  for (const chunk of chunks) print.update(chunk);
  return print.digest('hex');
}

describe('fingerprintOf', () => {
  it('differs by route, model, query and every byte of the body', () => {
    const body = Buffer.from('{}');
    const prints = [
      fingerprint({}, body),
      fingerprint({ route: `${route}/requests` }, body),
      fingerprint({ id: 'bfl/other' }, body),
      fingerprint({ query: '?x' }, body),
      fingerprint({ headers: { 'anthropic-beta': 'a' } }, body),
      fingerprint({ headers: { 'openai-beta': 'a' } }, body),
      fingerprint({}, Buffer.from('{ }')),
      fingerprint({}, Buffer.alloc(0)),
    ];
    expect(new Set(prints).size).toBe(prints.length);
    expect(fingerprint({}, Buffer.from('{'), Buffer.from('}'))).toBe(prints[0]);
    const usual = { 'anthropic-version': '2023-06-01', cookie: 'x' };
    expect(fingerprint({ headers: usual }, body)).toBe(prints[0]);
  });
});
