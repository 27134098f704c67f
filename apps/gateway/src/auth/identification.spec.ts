import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ApiKeyRepository, KeyCaller } from '#persistence';
import { readSettings } from '#schemas';
import { SignJWT } from 'jose';
import { waitFor } from '../../../../test/harness/wait-for.js';
import { AccessTokens } from './access-tokens.js';
import { Identification } from './identification.js';
import { authSettings } from './settings.js';

const secret = 'a-secret-of-tests-for-access-tokens-00';
const settings = readSettings(authSettings, { JWT_SECRET: secret });
const row: KeyCaller = {
  workspaceId: '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234',
  workspaceName: 'demo',
  enabled: true,
  visible: ['**'],
  runnable: ['**'],
  scopes: ['run'],
  keyId: 'k',
  tags: null,
  allowProviderTools: true,
  requiredTags: [],
  requiresUser: false,
  ownKeys: {},
  remainingMs: null,
};

let nowMs: number;
let lookedUp: string[];
let identification: Identification;
beforeEach(() => {
  nowMs = Date.now();
  lookedUp = [];
  // Stands in for the database and records each lookup.
  const callers: Pick<ApiKeyRepository, 'byApiKey' | 'byWorkspace'> = {
    byApiKey: async (key) => {
      lookedUp.push(key);
      if (key === 'ending') return { ...row, remainingMs: 5_000 };
      return key === 'good' ? row : null;
    },
    byWorkspace: async (id) => {
      lookedUp.push(id);
      return id === row.workspaceId ? row : null;
    },
  };
  identification = new Identification(
    callers as ApiKeyRepository,
    new AccessTokens(settings),
    settings,
    () => nowMs,
  );
});

const key = (text: string) => identification.find({ kind: 'api_key', text });

it('setting the clock back does not extend a cached credential', async () => {
  const wall = jest.spyOn(Date, 'now');
  const cached = new Identification(
    { byApiKey: async () => ({ ...row, remainingMs: 50 }) } as unknown as ApiKeyRepository,
    new AccessTokens(settings),
    settings,
  );
  const find = () => cached.find({ kind: 'api_key', text: 'ending' });
  const first = await find();
  wall.mockReturnValue(Date.now() - 3_600_000);
  try {
    await waitFor(async () => (await find()) !== first, {
      withinMs: 20_000,
      what: 'the key to be looked up again',
    });
  } finally {
    wall.mockRestore();
  }
});

describe('Identification', () => {
  it('caches a known key for its time, then looks it up again', async () => {
    expect(await key('good')).toMatchObject({ workspaceId: row.workspaceId, credential: 'key:k' });
    nowMs += 30_000;
    await key('good');
    expect(lookedUp).toHaveLength(1);
    nowMs += 1;
    await key('good');
    expect(lookedUp).toHaveLength(2);
  });

  it('does not cache a key beyond its expiry', async () => {
    await key('ending');
    nowMs += 4_999;
    await key('ending');
    expect(lookedUp).toHaveLength(1);
    nowMs += 1;
    await key('ending');
    expect(lookedUp).toHaveLength(2);
  });

  it('caches a rejected key for a short time', async () => {
    expect(await key('bad')).toBeNull();
    expect(await key('bad')).toBeNull();
    expect(lookedUp).toHaveLength(1);
    nowMs += 2_001;
    await key('bad');
    expect(lookedUp).toHaveLength(2);
  });

  it('looks a key up again when its workspace has changed, even during a lookup', async () => {
    await key('good');
    identification.forget('another');
    await key('good');
    expect(lookedUp).toHaveLength(1);
    identification.forget(row.workspaceId);
    const looked = key('good');
    identification.forget(row.workspaceId);
    await looked;
    await key('good');
    expect(lookedUp).toHaveLength(3);
    identification.forget();
    await key('good');
    expect(lookedUp).toHaveLength(4);
  });

  it('does not let guesses evict a known key', async () => {
    await key('good');
    for (let nth = 0; nth < 10_001; nth += 1) await key(`guess ${nth}`);
    lookedUp = [];
    await key('good');
    expect(lookedUp).toEqual([]);
  });

  it('tells once which keys were used, also those that it had cached', async () => {
    await key('bad');
    expect(identification.takeUsed()).toEqual([]);
    for (let times = 0; times < 2; times += 1) {
      await key('good');
      expect(identification.takeUsed()).toEqual(['k']);
    }
    expect(identification.takeUsed()).toEqual([]);
  });

  it('looks up a key once for concurrent calls', async () => {
    const found = await Promise.all([key('good'), key('good'), key('good')]);
    expect(found.every((caller) => caller?.workspaceId === row.workspaceId)).toBe(true);
    expect(lookedUp).toEqual(['good']);
  });

  it('does not cache an access token beyond its expiry', async () => {
    const text = await new SignJWT({ workspace: row.workspaceId, scope: 'catalog  run', sub: 'tester' })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('model-router')
      .setAudience('model-router')
      .setExpirationTime(Math.floor(nowMs / 1000) - 20)
      .sign(new TextEncoder().encode(secret));
    const token = () => identification.find({ kind: 'access_token', text });
    expect(await token()).toMatchObject({ scopes: ['catalog', 'run'], credential: 'token:tester' });
    await token();
    expect(lookedUp).toHaveLength(1);
    nowMs += 11_000;
    await token();
    expect(lookedUp).toHaveLength(2);
    expect(await identification.find({ kind: 'api_key', text })).toBeNull();
  });
});
