import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway().url}${path}`, { headers, redirect: 'manual' });

it('leads from the root to the console', async () => {
  for (const path of ['/', '/console']) {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console/']);
  }
});

it('answers every path of the console with its one page, under a policy that allows files of its own only', async () => {
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

it('serves the files of the page compressed, for good under their hashed names', async () => {
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

it('keeps the script of the first page below 200 KB compressed', async () => {
  const page = await (await get('/console/')).text();
  const scripts = [...page.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, url = '']) => url);
  let bytes = 0;
  for (const script of scripts) {
    const answer = await get(script, { 'accept-encoding': 'gzip' });
    bytes += Number(answer.headers.get('content-length'));
    await answer.arrayBuffer();
  }
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(200_000);
});
