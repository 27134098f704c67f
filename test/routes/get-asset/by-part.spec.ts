import { readSettings } from '#schemas';
import { createStore, storageSettings } from '#storage';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gatewayEnvironment } from '../../harness/shared/described.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

/** Stores an asset and returns its signed path. */
async function stored(name: string, mediaType: string): Promise<string> {
  const key = `asset-${process.pid}/${name}`;
  const file = path.join(gateway().assets, key);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, bytes);
  writeFileSync(`${file}~type`, mediaType);
  const { store } = await createStore(
    readSettings(storageSettings, gatewayEnvironment('', gateway().assets)),
  );
  const url = new URL(await store.sign(key, { expiresInSeconds: 600, nowMs: Date.now() }));
  return `${url.pathname}${url.search}`;
}

let clip: string;
beforeAll(async () => {
  clip = await stored('clip.mp4', 'video/mp4');
});

const get = (headers: Record<string, string> = {}, method = 'GET', at = clip) =>
  fetch(`${gateway().url}${at}`, { method, headers, signal: AbortSignal.timeout(30_000) });

describe('a range of an asset', () => {
  it.each([
    ['bytes=0-9', 0, 10],
    ['bytes=250-', 250, 256],
    ['bytes=-6', 250, 256],
  ])('%s returns its bytes %i to %i', async (range, from, to) => {
    const answer = await get({ range });
    expect([
      answer.status,
      answer.headers.get('content-range'),
      answer.headers.get('content-length'),
    ]).toEqual([206, `bytes ${from}-${to - 1}/256`, String(to - from)]);
    expect(answer.headers.get('content-type')).toBe('video/mp4');
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes.subarray(from, to));
  });

  it('beyond its end is rejected, with the size', async () => {
    const answer = await get({ range: 'bytes=256-' });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */256']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({ error: 'invalid_input', message: expect.any(String) });
  });

  it('applies only to the version that If-Range names', async () => {
    const etag = (await get()).headers.get('etag') ?? '';
    const range = 'bytes=0-9';
    expect((await get({ range, 'if-range': etag })).status).toBe(206);
    const other = await get({ range, 'if-range': '"other"' });
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, 256]);
  });

  it.each(['bytes=0-1,4-5', 'bytes=x', 'lines=0-1'])('%s returns the whole asset', async (range) => {
    const answer = await get({ range });
    expect([answer.status, answer.headers.get('accept-ranges')]).toEqual([200, 'bytes']);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  });
});

it('an unchanged asset is not sent again', async () => {
  const etag = (await get()).headers.get('etag') ?? '';
  const answer = await get({ 'if-none-match': etag });
  expect([answer.status, answer.headers.get('etag'), await answer.text()]).toEqual([304, etag, '']);
});

it('HEAD of an unchanged asset does not claim that it is empty', async () => {
  const etag = (await get()).headers.get('etag') ?? '';
  const answer = await get({ 'if-none-match': etag }, 'HEAD');
  expect([answer.status, answer.headers.get('content-length')]).toEqual([304, null]);
});

it('HEAD returns its size', async () => {
  const answer = await get({ range: 'bytes=0-9' }, 'HEAD');
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([
    200,
    '256',
    '',
  ]);
});

it.each([
  ['image/png', 'inline'],
  ['image/svg+xml', 'attachment'],
  ['text/html', 'attachment'],
  ['application/xhtml+xml', 'attachment'],
])('%s is served as %s, and never as a page of ours', async (mediaType, disposition) => {
  const answer = await get({}, 'GET', await stored(`a.${mediaType.replaceAll(/\W/g, '-')}`, mediaType));
  expect(answer.headers.get('content-disposition')).toBe(disposition);
  expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  await answer.body?.cancel();
});
