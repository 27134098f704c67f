import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { parse } from 'yaml';
import { checkCatalog } from '#catalog';
import type { Imported } from '../../apps/admin/src/catalog-import/import-models.js';
import { temporaryFolder } from '../harness/index.js';
import { falDocument, type PublishedEndpoint, PublishingServer } from './publishing-server.js';
import { runAdmin } from './run-admin.js';

export const env = { PROVIDER_FAL_KEY: 'key-of-fal', PROVIDER_REPLICATE_KEY: 'key-of-replicate' };
export const prices = { image: { unit_price: 0.04, unit: 'image' } };
export const count = { num_images: { type: 'integer', minimum: 1, maximum: 4, default: 1 } };

export const paint = (id: string, more: Partial<PublishedEndpoint> = {}): PublishedEndpoint => ({
  id,
  openapi: falDocument(id, count),
  metadata: { display_name: 'Paint', category: 'text-to-image', description: 'Paints.' },
  price: prices.image,
  ...more,
});

export let server: PublishingServer;
export let directory: string;

/** Each test of the file imports from an empty `server` into an empty `directory`. */
export function usePublishingServer(): void {
  beforeAll(async () => {
    server = await PublishingServer.start();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    directory = temporaryFolder('imported');
    server.endpoints.length = 0;
    server.requests.length = 0;
    server.models.clear();
    Object.assign(server, { served: [], pageSize: 50, failure: undefined, onRequest: undefined });
  });
}

const fal = (...words: string[]) =>
  runAdmin(
    env,
    'catalog',
    'import',
    'fal',
    ...words,
    '--to',
    directory,
    '--api',
    `${server.url}/fal`,
    '--json',
  );

export async function importFal(...words: string[]): Promise<Imported & { code: number }> {
  const { code, out, error } = await fal(...words);
  if (out === '') throw new Error(error);
  return { code, ...(JSON.parse(out) as Imported) };
}

export const diff = (...words: string[]) => runAdmin(env, 'catalog', 'diff', ...words);
export const rowOf = (name: string) =>
  parse(readFileSync(path.join(directory, `${name}.yaml`), 'utf8')) as Record<string, unknown>;
export const filesIn = (folder: string) => readdirSync(folder).sort();

export const expectValid = async () =>
  expect((await checkCatalog({ directories: [directory] })).map(({ reason }) => reason)).toEqual([]);
