import { describe, expect, it } from '@jest/globals';
import { keyCheck } from './check.js';
import type { CheckSpec } from './check-spec.js';
import type { AccountReports } from './condition.js';
import { declaredProvider } from './declared/declared.js';
import { providerList } from './providers.js';
import { reply } from './testing/declared-adapter.js';
import { credentialHeaders } from './trusted-origins.js';

const source = 'https://acme.example/docs';
const date = '2026-11-26';
const account: AccountReports = {
  key: [{ http: 400, path: '/reason', equals: 'BAD_KEY', source, date }],
  balance: [{ http: 402, source, date }],
  quota: { notDocumentedIn: source, date },
};
const spec: CheckSpec = {
  url: '{base}/credits',
  ok: [{ http: 200, path: '/data/*/left' }],
  rejected: [{ http: 200, path: '/blocked', equals: true }],
  balance: { path: '/data/*/left', unit: 'credits' },
  source,
  date,
};
const checkOf = (check: CheckSpec, base = 'https://api.acme.example') => {
  const made = keyCheck({ check, account, defaultBase: 'https://api.acme.example' }, base);
  if (!made) throw new Error('no check');
  return made;
};
const checked = checkOf(spec);

describe('the reply to a check of the key', () => {
  it.each([
    [
      '{"data":[{"left":3},{"left":"4.5"}]}',
      200,
      { result: 'ok', balance: { amount: 7.5, unit: 'credits' } },
    ],
    ['{"data":[{"left":"many"}]}', 200, { result: 'ok' }],
    ['{"blocked":true,"data":[{"left":3}]}', 200, { result: 'rejected' }],
    ['{"reason":"BAD_KEY"}', 400, { result: 'rejected' }],
    ['{}', 401, { result: 'rejected' }],
    ['{}', 403, { result: 'rejected' }],
    ['{"reason":"other"}', 400, { result: 'unreachable', detail: 'The provider answered HTTP 400.' }],
    ['<html>', 502, { result: 'unreachable', detail: 'The provider answered HTTP 502.' }],
    [
      '{"maintenance":true}',
      200,
      { result: 'unreachable', detail: 'The reply has another form than the documented one.' },
    ],
    [
      '{}',
      402,
      {
        result: 'ok',
        detail: 'The provider accepts the key, but reports that our balance or quota is used up.',
      },
    ],
  ])('%s with %i', (body, status, expected) => {
    expect(checked.read(reply(body, status))).toEqual({ httpStatus: status, ...expected });
  });

  it('is the result of the key alone if there is none', () => {
    expect(checked.read({ fault: 'not_sent', cause: 'no_key' })).toEqual({ result: 'no_key' });
    expect(checked.read({ fault: 'not_sent', cause: 'token_refused' })).toMatchObject({ result: 'rejected' });
    expect(checked.read({ fault: 'ambiguous', cause: 'timeout' })).toEqual({
      result: 'unreachable',
      detail: 'There was no answer: timeout.',
    });
    expect(checked.read({ fault: 'oversize' })).toMatchObject({ result: 'unreachable' });
  });

  it('is JSON with any 2xx if the file does not say more', () => {
    const plain = checkOf({ url: '{base}/models', source, date });
    expect(plain.read(reply('{"data":[]}')).result).toBe('ok');
    expect(plain.read(reply('<html>', 200, 'text/html')).result).toBe('unreachable');
  });
});

describe('the address of a check', () => {
  const elsewhere = { ...spec, url: 'https://platform.acme.example/v1/credits?all=1' };

  it('is below the base, or the one that the file names', () => {
    expect(checkOf(spec).call).toMatchObject({ method: 'GET', url: 'https://api.acme.example/credits' });
    expect(checkOf(elsewhere).call.url).toBe('https://platform.acme.example/v1/credits?all=1');
  });

  it('is always below another base, so that a simulator or a proxy gets the call', () => {
    const base = 'http://127.0.0.1:8081/acme';
    expect(checkOf(spec, base).call.url).toBe(`${base}/credits`);
    expect(checkOf(elsewhere, base).call.url).toBe(`${base}/v1/credits?all=1`);
  });

  it.each([
    'https://attacker.example/credits',
    '{base}.attacker.example',
    '{secret}',
    'http://api.acme.example/x',
  ])('is rejected if the key would go elsewhere: %s', (url) => {
    const row = {
      provider: 'acme',
      base: 'https://api.acme.example',
      auth: { authorization: 'Bearer {secret}' },
      submit: { url: '{base}/run' },
      check: { url, source, date },
    };
    expect(declaredProvider(row)).toMatchObject({ problems: [{ path: ['check', 'url'] }] });
  });
});

describe.each(providerList.filter(({ check }) => check))('the check of $name', (definition) => {
  const made = keyCheck(definition, definition.defaultBase);

  it('names the document that shows it, and carries the key', () => {
    expect(definition.check?.source).toMatch(/^https:\/\/[\w.-]+\.\w+\//);
    expect(definition.check?.date).toMatch(/^\d{4}-\d\d-\d\d$/);
    if (!made) throw new Error('no check');
    const adapter = definition.create(definition.defaultBase, {});
    expect(Object.values(credentialHeaders(adapter, made.call, 'a:key', 0))).not.toEqual([]);
  });
});

it('many providers declare a check', () => {
  expect(providerList.filter(({ check }) => check).length).toBeGreaterThanOrEqual(17);
});
