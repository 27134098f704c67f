import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

const after = (start: string | number[], length = 9000) =>
  Buffer.concat([Buffer.from(start as string), Buffer.alloc(length, 7)]);
const png = after([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52]);

const upload = (caller: Caller, body: Uint8Array, type = 'application/octet-stream') =>
  caller.call('POST', '/v2/files', { body, headers: { 'content-type': type } });

/** Fetches a signed link. */
const opened = (url: string) => fetch(url.replace('http://assets.test', gateway().url));

it('the link opens the file byte for byte for 24 hours', async () => {
  const { caller } = await gateway().caller();
  const answer = await upload(caller, png);
  expect([answer.status, answer.json()]).toEqual([
    201,
    {
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      url: expect.stringMatching(/^http:\/\/assets\.test\/assets\/files\/[0-9a-f-]{36}\.png\?/),
      content_type: 'image/png',
      size: png.length,
      expires_at: expect.any(String),
    },
  ]);
  const { url, expires_at: expiresAt, id } = answer.json() as Record<string, string>;
  const livesMs = Date.parse(expiresAt ?? '') - Date.now();
  expect(Math.round(livesMs / 3_600_000)).toBe(24);
  const file = await opened(url ?? '');
  expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/png']);
  expect(Buffer.from(await file.arrayBuffer()).equals(png)).toBe(true);
  expect(readFileSync(path.join(gateway().assets, `files/${id}.png`)).equals(png)).toBe(true);
});

describe('the media type is that of the content, whatever the caller declares', () => {
  it.each([
    ['a JPEG', after([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46]), 'image/png', 'image/jpeg'],
    ['a video', after('\0\0\0\x18ftypmp42\0\0\0\0'), 'text/html', 'video/mp4'],
    ['a sound', after('RIFF\x24\0\0\0WAVEfmt '), 'image/png', 'audio/wav'],
    ['a mesh', after('glTF\x02\0\0\0'), 'image/png', 'model/gltf-binary'],
    ['a drawing', Buffer.from('<?xml version="1.0"?>\n<svg xmlns="x"/>'), 'image/png', 'image/svg+xml'],
    ['a mesh in words', Buffer.from('v 0 0 0\nv 1 0 0\n'), 'model/obj', 'model/obj'],
    ['a text', Buffer.from('once upon a time'), 'text/plain; charset=utf-8', 'text/plain'],
    ['a text that claims to be an image', Buffer.from('once'), 'image/png', 'application/octet-stream'],
    ['a single byte', Buffer.from('x'), 'video/mp4', 'application/octet-stream'],
  ])('%s', async (_what, body, announced, expected) => {
    const { caller } = await gateway().caller();
    expect((await upload(caller, body, announced)).json()['content_type']).toBe(expected);
  });
});

it.each([
  ['text/html', '<!doctype html><script>alert(1)</script>', 'text/html'],
  ['image/svg+xml', '<svg xmlns="x"><script>alert(1)</script></svg>', 'image/svg+xml'],
  ['image/png', '<html><script>alert(1)</script>', 'application/octet-stream'],
])('a file declared as %s is served so that nothing in it runs', async (announced, body, type) => {
  const { caller } = await gateway().caller();
  const { headers } = await opened(
    String((await upload(caller, Buffer.from(body), announced)).json()['url']),
  );
  expect([
    headers.get('content-type'),
    headers.get('content-disposition'),
    headers.get('x-content-type-options'),
    headers.get('content-security-policy'),
  ]).toEqual([type, 'attachment', 'nosniff', "default-src 'none'; sandbox"]);
});

it('a file without Content-Length is accepted', async () => {
  const { caller } = await gateway().caller();
  const answer = await fetch(`${gateway().url}/v2/files`, {
    method: 'POST',
    headers: { 'x-api-key': caller.key },
    body: new Blob([png]).stream(),
    duplex: 'half',
  });
  expect([answer.status, ((await answer.json()) as { size: number }).size]).toEqual([201, png.length]);
});
