import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway().url}${path}`, { headers, redirect: 'manual' });

it('the root redirects to the console', async () => {
  for (const path of ['/', '/console']) {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console/']);
  }
});

it('every path of the console serves its one page, with a policy that allows only its own files', async () => {
  for (const path of ['/console/', '/console/models/bfl/flux-2-pro', '/console/no-such-page']) {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; ");
    expect(policy).not.toMatch(/unsafe|\*/);
    const page = await answer.text();
    expect(page).not.toMatch(/<style|style=|<script(?![^>]+src=)/);
  }
});

it('the page’s files are compressed, and cached forever under their hashed names', async () => {
  const page = await (await get('/console/')).text();
  const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const answer = await get(file, { 'accept-encoding': 'gzip' });
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, 'gzip']);
    const isHashed = file.startsWith('/console/assets/');
    expect(answer.headers.get('cache-control')).toBe(
      isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    );
    await answer.arrayBuffer();
  }
});

it('the first page’s script stays below 210 KB compressed', async () => {
  const page = await (await get('/console/')).text();
  const scripts = [...page.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, url = '']) => url);
  let bytes = 0;
  for (const script of scripts) {
    const answer = await get(script, { 'accept-encoding': 'gzip' });
    bytes += Number(answer.headers.get('content-length'));
    await answer.arrayBuffer();
  }
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(210_000);
});

it('the sample files of the models’ examples are served to anyone', async () => {
  for (const [file, type] of [
    ['cat.jpg', 'image/jpeg'],
    ['clip.mp4', 'video/mp4'],
    ['chime.mp3', 'audio/mpeg'],
    ['shape.glb', 'model/gltf-binary'],
  ]) {
    const answer = await get(`/console/samples/${file}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(500);
  }
  expect((await get('/console/samples/none.jpg')).status).toBe(404);
});
