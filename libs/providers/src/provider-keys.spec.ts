import { describe, expect, it } from '@jest/globals';
import { bindProviders } from './providers.js';
import { isPool, readKeys } from './provider-keys.js';

const json = '{\n  "type": "service_account",\n  "private_key": "-----BEGIN\\nabc=\\n"\n}';

describe('readKeys', () => {
  it.each([
    ['abc'],
    ['id=secret'],
    ['abcd=='],
    ['access:secret weights=3'],
    [json],
    ['-----BEGIN KEY-----\nabc\nzz==\n-----END KEY-----'],
  ])('takes a key that stands alone as it is: %j', (text) => {
    const keys = readKeys(` ${text}\n`);
    expect(keys).toEqual([{ name: 'default', secret: text, weight: 1 }]);
    expect(isPool(keys)).toBe(false);
  });

  it('takes several keys, one a line, with their terms', () => {
    const keys = readKeys(
      'main=k1== weight=3 concurrency=4\n\n spare=id=k2 per_minute=10 \r\nold={"a": 1} weight=0',
    );
    expect(keys).toEqual([
      { name: 'main', secret: 'k1==', weight: 3, concurrency: 4 },
      { name: 'spare', secret: 'id=k2', weight: 1, perMinute: 10 },
      { name: 'old', secret: '{"a": 1}', weight: 0 },
    ]);
    expect(isPool(keys)).toBe(true);
  });

  it('takes a single line as a named key only if it has terms', () => {
    expect(readKeys('main=k1 per_minute=10')).toEqual([
      { name: 'main', secret: 'k1', weight: 1, perMinute: 10 },
    ]);
  });

  it('has no key in an empty text', () => {
    expect([readKeys(undefined), readKeys(' \n')]).toEqual([[], []]);
  });

  it.each([
    ['main=secret-1\nSpare=secret-2', /line 2 is not of the form name=key/],
    ['main=secret-1\nsecret-2', /line 2 is not of the form/],
    ['main=secret-1\nmain=secret-2', /two keys are named main/],
    ['main=secret-1\nspare=secret-2 weigth=2', /line 2 ends with an unknown term/],
    ['main=secret-1 per_minute=0', /per_minute must be from 1 to 100000/],
  ])('rejects %j without quoting it', (text, reason) => {
    expect(() => readKeys(text)).toThrow(reason);
    const bind = () => bindProviders({ PROVIDER_BFL_KEY: text });
    expect(bind).toThrow(/PROVIDER_BFL_KEY: /);
    expect(bind).not.toThrow(/secret-/);
  });
});
