import { describe, expect, it } from '@jest/globals';
import { BadSettings, readSettings } from '#schemas';
import { holdWhileStoppingMs } from './runs/held/settings.js';
import { gatewaySettings, readGatewaySettings } from './settings.js';

const minimal = {
  DATABASE_URL: 'postgres://router@127.0.0.1/router',
  JWT_SECRET: 'x'.repeat(32),
  SIGNING_SECRET: 'y'.repeat(32),
};

const withSetting = (name: string, value: string) =>
  readSettings(gatewaySettings, { ...minimal, [name]: value });

describe('the settings of a gateway', () => {
  it('have defaults for all but the database and two secrets', () => {
    expect(readSettings(gatewaySettings, minimal)).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 8080,
      BODY_LIMIT: 32 * 1024 * 1024,
      SIGNING_SECRET: [minimal.SIGNING_SECRET],
      TRUSTED_PROXIES: [],
    });
  });

  it('accept a second, older secret of signatures and of access tokens, and strip the trailing slash of an address', () => {
    const env = {
      ...minimal,
      SIGNING_SECRET: `${'a'.repeat(32)}, ${'b'.repeat(32)}`,
      JWT_SECRET: `${'c'.repeat(32)}, ${'d'.repeat(32)}`,
      PUBLIC_BASE_URL: 'https://r.example/',
    };
    expect(readSettings(gatewaySettings, env)).toMatchObject({
      SIGNING_SECRET: ['a'.repeat(32), 'b'.repeat(32)],
      JWT_SECRET: ['c'.repeat(32), 'd'.repeat(32)],
      PUBLIC_BASE_URL: 'https://r.example',
    });
  });

  it('report every problem', () => {
    const env = {
      TRUSTED_PROXIES: '10.0.0.0/40',
      PUBLIC_BASE_URL: 'router.example',
      AUTH_CACHE_MS: '60000',
      SIGNING_SECRET: 'short',
    };
    const read = () => readGatewaySettings(env);
    expect(read).toThrow(BadSettings);
    for (const name of [...Object.keys(env), 'DATABASE_URL', 'JWT_SECRET']) expect(read).toThrow(`${name}:`);
  });

  it('accept published keys instead of the secret of access tokens, but require one of the two', () => {
    const { JWT_SECRET: _secret, ...others } = minimal;
    const url = 'https://login.example.com/jwks';
    expect(readGatewaySettings({ ...others, JWT_JWKS_URL: url })).toMatchObject({
      JWT_JWKS_URL: url,
      JWT_JWKS_ALGORITHMS: ['RS256', 'ES256', 'EdDSA'],
    });
    expect(() => readGatewaySettings(others)).toThrow('one of JWT_SECRET and JWT_JWKS_URL is required');
  });

  it('reject a secret of access tokens that is too short, alone and in a list', () => {
    for (const secrets of ['short', `${'c'.repeat(32)},short`])
      for (const jwks of ['', 'https://login.example.com/jwks'])
        expect(() => readGatewaySettings({ ...minimal, JWT_SECRET: secrets, JWT_JWKS_URL: jwks })).toThrow(
          'JWT_SECRET: must be one or two secrets of at least 32 characters',
        );
  });

  it('reject a time that overflows a timer', () => {
    expect(withSetting('SYNC_DEADLINE_MS', '604800000')).toMatchObject({ SYNC_DEADLINE_MS: 604_800_000 });
    expect(() => withSetting('SYNC_DEADLINE_MS', '3000000000')).toThrow(
      'SYNC_DEADLINE_MS: must be at most 604800000 (one week)',
    );
  });

  it('reject a registry pool in which lists would leave no connection free', () => {
    expect(withSetting('DATABASE_REGISTRY_POOL', '2')).toMatchObject({ DATABASE_REGISTRY_POOL: 2 });
    expect(() => withSetting('DATABASE_REGISTRY_POOL', '1')).toThrow(
      'DATABASE_REGISTRY_POOL: must be at least 2, because lists leave one to the registry',
    );
  });

  it('accept a database socket, and reject a URL that the driver cannot read', () => {
    const socket = 'postgres://router:secret@/router?host=/run/postgresql';
    expect(withSetting('DATABASE_URL', socket)).toMatchObject({ DATABASE_URL: socket });
    for (const url of ['postgres://a:b@host:99999/router', 'postgres://a:p#w@host/router'])
      expect(() => withSetting('DATABASE_URL', url)).toThrow('DATABASE_URL: must be a valid URL');
  });

  it.each([
    ['JWT_JWKS_ALGORITHMS', 'HS256'],
    ['JWT_JWKS_ALGORITHMS', 'RS256,none'],
    ['JWT_JWKS_ALGORITHMS', ','],
    ['JWT_JWKS_URL', 'http://login.example.com/jwks'],
    ['JWT_JWKS_URL', 'http://localhost.example.com/jwks'],
  ])('reject %s=%s', (name, value) => {
    expect(() => readGatewaySettings({ ...minimal, [name]: value })).toThrow(name);
  });

  it('each have a description and an example', () => {
    for (const schema of Object.values(gatewaySettings)) {
      expect(schema.meta()).toMatchObject({ description: expect.any(String), example: expect.any(String) });
    }
  });
});

it('a stop holds calls until 20 s before its limit, and for half of a limit below 40 s', () => {
  const limits = [600_000, 40_000, 20_000, 2_000];
  const held = limits.map((CLOSE_TIMEOUT_MS) => holdWhileStoppingMs({ CLOSE_TIMEOUT_MS }));
  expect(held).toEqual([580_000, 20_000, 10_000, 1_000]);
});
