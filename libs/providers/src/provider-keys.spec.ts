import { describe, expect, it } from '@jest/globals';
import { bindProviders } from './providers.js';
import { isPool, readKeys } from './provider-keys.js';

const json = '{\n  "type": "service_account",\n  "private_key": "-----BEGIN\\nabc=\\n"\n}';

describe('readKeys', () => {
  it.each([['abc'], ['abcd=='], ['Id=secret'], ['access:secret'], [json]])(
    'takes a key that stands alone as it is: %j',
    (text) => {
      const keys = readKeys(` ${text}\n`);
      expect(keys).toEqual([{ name: 'default', secret: text, weight: 1 }]);
      expect(isPool(keys)).toBe(false);
    },
  );

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

  it.each(['main=k1', 'main=k1==', 'default=id=k1', 'main=k1 per_minute=10', 'main={"a": 1}'])(
    'reads the line %j alike, alone or among others',
    (line) => {
      const [alone] = readKeys(line);
      expect(readKeys(`first=k0\n${line}\nlast=k2`)[1]).toEqual(alone);
      expect(isPool(readKeys(line))).toBe(!line.startsWith('default='));
      expect(alone?.secret.startsWith(alone.name)).toBe(false);
    },
  );

  it('limits a key without a name', () => {
    expect(readKeys('k1 per_minute=10')).toEqual([
      { name: 'default', secret: 'k1', weight: 1, perMinute: 10 },
    ]);
  });

  it('has no key in an empty text', () => {
    expect([readKeys(undefined), readKeys(' \n')]).toEqual([[], []]);
  });

  it.each([
    ['main=secret-1\nSpare=secret-2', /line 2 is not of the form name=key/],
    ['main=secret-1\n\nsecret-2', /line 3 is not of the form/],
    ['secret-1\nsecret-2', /line 1 is not of the form/],
    ['a = secret-1\nb = secret-2', /line 1 is not of the form/],
    ['a = secret-1', /line 1 has a space in its key/],
    ['a=', /line 1 has a name and no key/],
    ['# the key\nmain=secret-1', /line 1 is not of the form/],
    ['-----BEGIN KEY-----\nsecret-1\n-----END KEY-----', /line 1 is not of the form/],
    ['{\n"key": "secret-1"\n}', /line 2 belongs to no key/],
    ['secret-\u0435', /line 1 has a character that no header can hold/],
    ['main=secret-1\nspare=secret-\u00012', /line 2 has a character that no header can hold/],
    ['main=secret-1\nmain=secret-2', /two keys are named main/],
    ['main=secret-1\nspare=secret-2 weigth=2', /line 2 ends with an unknown term/],
    ['access:secret-1 weights=3', /line 1 ends with an unknown term/],
    ['main=secret-1 per_minute=0', /per_minute must be from 1 to 100000/],
  ])('rejects %j without quoting it', (text, reason) => {
    const bind = () => bindProviders({ PROVIDER_BFL_KEY: text });
    expect(bind).toThrow(reason);
    expect(bind).toThrow(/PROVIDER_BFL_KEY: /);
    expect(bind).not.toThrow(/secret-/);
  });
});
