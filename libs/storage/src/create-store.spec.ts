import { describe, expect, it } from '@jest/globals';
import { BadSettings, readSettings } from '#schemas';
import { createStore } from './create-store.js';
import { storageSettings } from './settings.js';

const open = (env: Record<string, string>) => createStore(readSettings(storageSettings, env));
const bucket = { S3_BUCKET: 'assets', S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' };
const day = { expiresInSeconds: 86_400, nowMs: Date.UTC(2026, 0, 1) };

describe('createStore', () => {
  it('stores files if no bucket is set', async () => {
    const { store, warnings } = await open({
      ASSET_BASE_URL: 'https://router.example.com',
      SIGNING_SECRET: 's'.repeat(32),
    });
    expect(warnings).toEqual([]);
    expect(await store.sign('a', day)).toMatch(
      /^https:\/\/router\.example\.com\/assets\/a\?expires=1767312000&/,
    );
  });

  it('reports all settings that are missing for files', async () => {
    await expect(open({ SIGNING_SECRET: 'short' })).rejects.toMatchObject({
      problems: [expect.stringContaining('ASSET_BASE_URL'), expect.stringContaining('32 characters')],
    });
    await expect(open({ ASSET_BASE_URL: 'http://localhost' })).rejects.toMatchObject({
      problems: [expect.stringContaining('SIGNING_SECRET')],
    });
  });

  it.each([
    ['AWS', {}, 'https://assets.s3.us-east-1.amazonaws.com/runs/1.png?'],
    [
      'another service',
      { S3_ENDPOINT: 'http://s3.internal:9000' },
      'http://s3.internal:9000/assets/runs/1.png?',
    ],
    [
      'a public address',
      { S3_ENDPOINT: 'http://s3.internal:9000', S3_PUBLIC_ENDPOINT: 'https://cdn.example.com' },
      'https://cdn.example.com/assets/runs/1.png?',
    ],
    [
      'host style',
      { S3_ENDPOINT: 'http://s3.internal:9000', S3_FORCE_PATH_STYLE: 'false' },
      'http://assets.s3.internal:9000/runs/1.png?',
    ],
  ])('signs for %s', async (_name, env, start) => {
    const { store } = await open({ ...bucket, ...env });
    const url = await store.sign('runs/1.png', day);
    expect(url.slice(0, start.length)).toBe(start);
    expect(new URL(url).searchParams.get('X-Amz-Date')).toBe('20260101T000000Z');
    expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('86400');
    await store.close();
  });

  it('warns about temporary credentials, whose links expire with them', async () => {
    const lasting = await open(bucket);
    const temporary = await open({ ...bucket, S3_SESSION_TOKEN: 'token' });
    expect(lasting.warnings).toEqual([]);
    expect(temporary.warnings).toEqual([expect.stringContaining('temporary')]);
  });

  it('requires both parts of a credential or neither', async () => {
    await expect(open({ S3_BUCKET: 'assets', S3_ACCESS_KEY_ID: 'id' })).rejects.toBeInstanceOf(BadSettings);
  });

  it('describes every setting', () => {
    for (const setting of Object.values(storageSettings)) {
      expect(setting.meta()).toEqual({ description: expect.any(String), example: expect.any(String) });
    }
  });
});
