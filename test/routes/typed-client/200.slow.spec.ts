import { beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { typeCheck } from '../../clients/type-check.js';
import { temporaryFolder } from '../../harness/running.js';
import { waitFor } from '../../harness/wait-for.js';
import { gatewayForFile } from '../gateways.js';

const catalog = temporaryFolder('catalog');
const row = (id: string) => `id: ${id}
provider: bfl
upstream: { path: flux-2-pro }
charges_on_policy_rejection: unknown
price: { usd: 0.04 }
title: Paint */ export {}; /*
input:
  type: object
  required: [mood]
  properties:
    mood: { type: string, enum: [calm, wild] }
`;
writeFileSync(path.join(catalog, 'paint.yaml'), row('acme/paint'));
const gateway = gatewayForFile({ CATALOG_DIR: catalog, CATALOG_POLL_MS: '100', AUTH_CACHE_MS: '1' });
const short = '/v2/clients/model-router-client.tgz';

interface Found {
  status: number;
  url: string;
  bytes: Buffer;
  headers: Headers;
}

async function get(key: string, address: string): Promise<Found> {
  const answer = await fetch(new URL(address, gateway().url), { headers: { 'x-api-key': key } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, url: answer.url, bytes, headers: answer.headers };
}

const keyOf = async (visible?: string[]): Promise<string> =>
  (await gateway().caller(visible && { visible })).caller.key;

/** The project of an npm user with this key, and the client for it. */
async function installed(key: string): Promise<string> {
  const folder = temporaryFolder('app');
  const { host } = new URL(gateway().url);
  writeFileSync(path.join(folder, '.npmrc'), `//${host}/v2/clients/:_authToken=\${ROUTER_KEY}\n`);
  const words = [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--cache',
    path.join(folder, 'cache'),
  ];
  await promisify(execFile)('npm', [...words, `${gateway().url}${short}`], {
    cwd: folder,
    env: { ...process.env, ROUTER_KEY: key },
    timeout: 120_000,
  });
  return folder;
}

const program = (id: string) => `
import { createRouter } from 'model-router-client';
const router = createRouter({ baseUrl: 'https://router.example', key: 'k' });
export const fits = () => router.run('${id}', { mood: 'wild' });
export const fitsNot = () =>
  // @ts-expect-error not one of the moods
  router.run('${id}', { mood: 'sad' });
`;
const module = { module: 'nodenext', noEmit: true };

let everything: string;
beforeAll(async () => {
  everything = await keyOf();
});

it('npm installs the client with the types of the operator’s models, by the key in .npmrc', async () => {
  const folder = await installed(everything);
  writeFileSync(path.join(folder, 'paint.mts'), program('acme/paint'));
  await typeCheck(folder, 'paint.mts', module);
  const types = readFileSync(
    path.join(folder, 'node_modules/model-router-client/dist/cjs/models.d.ts'),
    'utf8',
  );
  expect(types).toContain('"bfl/flux-2-pro": {');
});

it('a key that may not see a model does not get its types', async () => {
  const key = await keyOf(['bfl/*']);
  const { bytes } = await get(key, short);
  expect(bytes.includes('"bfl/flux-2-pro": {')).toBe(true);
  for (const hidden of ['"acme/paint"', '"fal/']) expect(bytes.includes(hidden)).toBe(false);
  const folder = await installed(key);
  writeFileSync(path.join(folder, 'paint.mts'), program('acme/paint'));
  await expect(typeCheck(folder, 'paint.mts', module)).rejects.toThrow(/"acme\/paint"' is not assignable/);
  // Another caller who knows the URL gets nothing.
  const { url } = await get(everything, short);
  expect((await get(key, url)).status).toBe(404);
});

it('the URL has the digest, is cached for ever, and never has other bytes', async () => {
  const before = await get(everything, short);
  expect(before.url).toMatch(/\/v2\/clients\/[0-9a-f]{32}\/model-router-client\.tgz$/);
  expect(before.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
  expect((await get(everything, before.url)).bytes.equals(before.bytes)).toBe(true);
  expect((await get(await keyOf(), short)).url).toBe(before.url);

  const other = path.join(catalog, 'other.yaml');
  writeFileSync(other, row('acme/other'));
  try {
    const changed = async () => (await get(everything, short)).url !== before.url;
    await waitFor(changed, { withinMs: 60_000, what: 'the new revision of the catalog' });
    expect((await get(everything, before.url)).status).toBe(404);
    expect((await get(everything, short)).bytes.includes('"acme/other": {')).toBe(true);
  } finally {
    rmSync(other);
  }
  const back = async () => (await get(everything, before.url)).bytes.equals(before.bytes);
  await waitFor(back, { withinMs: 60_000, what: 'the first revision again' });
});
