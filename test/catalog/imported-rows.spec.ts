import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkCatalog, loadCatalog, type Model } from '#catalog';
import { importModels, type Imported } from '../../apps/admin/src/catalog-import/import-models.js';
import { RowDirectory } from '../../apps/admin/src/catalog-import/row-directory.js';
import type { Source } from '../../apps/admin/src/catalog-import/draft.js';
import { SourceApi } from '../../apps/admin/src/catalog-import/source-api.js';
import { falSource } from '../../apps/admin/src/catalog-import/sources/fal.js';
import { openAiCompatibleSource } from '../../apps/admin/src/catalog-import/sources/openai-compatible.js';
import { replicateSource } from '../../apps/admin/src/catalog-import/sources/replicate.js';
import { publicServers } from '../admin/public-servers/index.js';
import { falDocument, PublishingServer, replicateDocument } from '../admin/publishing-server.js';
import { failOnLeftovers, sharedSystem, temporaryFolder, transports } from '../harness/index.js';

const { signal } = new AbortController();
const priced = { unit_price: 0.01, unit: 'request' };

async function importInto(directory: string, source: Source, names?: readonly string[]): Promise<Imported> {
  const rows = await RowDirectory.open(directory, (await loadCatalog()).models);
  return importModels(source, rows, { ...(names && { names }), signal, progress: () => {} });
}

const modelsIn = async (directory: string): Promise<Model[]> => {
  expect(await checkCatalog({ directories: [directory] })).toEqual([]);
  const { models } = await loadCatalog({ directories: [directory] });
  return [...models];
};

const filesOf = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory)
      // A row is served only after its document, so documents come first.
      .sort((one, other) => Number(one.endsWith('.yaml')) - Number(other.endsWith('.yaml')))
      .map((name) => [name, readFileSync(path.join(directory, name), 'utf8')]),
  );

describe.each(transports().slice(0, 1))('imported rows on %s', (transport) => {
  const system = sharedSystem(transport);
  let server: PublishingServer;

  beforeAll(async () => {
    server = await PublishingServer.start();
  });
  afterAll(() => server.stop());

  const fal = () =>
    falSource({ api: new SourceApi(`${server.url}/fal`, {}, signal), hasKey: true, maxCents: () => 50 });
  const replicate = () =>
    replicateSource({
      api: new SourceApi(`${server.url}/replicate`, {}, signal),
      price: { usdPerSecond: 0.001 },
      maxCents: undefined,
    });

  /** Serves the rows, and runs the example of each. */
  async function statusesOf(directory: string): Promise<Record<string, string>> {
    const models = await modelsIn(directory);
    await system.serve(filesOf(directory));
    const caller = await system.caller({ inflightLimit: 1000, windowLimit: 10_000 });
    const statuses: Record<string, string> = {};
    const runs = [];
    for (const { id, example } of models) {
      try {
        runs.push({ id, run: await caller.submit(id, JSON.stringify(example)) });
      } catch (error) {
        statuses[id] = String(error);
      }
    }
    await system.ended(caller, 120_000);
    for (const { id, run } of runs) {
      const { status, bytes } = await caller.collect(run);
      statuses[id] = status === 200 ? '200' : `${status} ${bytes.subarray(0, 300).toString()}`;
    }
    return statuses;
  }

  it('run end to end: fal, and official and community models of Replicate', async () => {
    const directory = temporaryFolder('imported');
    const files = { type: 'array', items: { type: 'string', format: 'uri' } };
    server.endpoints.push({
      id: 'constructed/painter',
      openapi: falDocument('constructed/painter', { seed: { type: 'integer' } }),
      metadata: { category: 'text-to-image' },
      price: priced,
    });
    const latest = { latest_version: { id: 'f00d', openapi_schema: replicateDocument(files) } };
    server.models.set('constructed/official', { ...latest, is_official: true });
    server.models.set('constructed/community', latest);
    await importInto(directory, fal(), ['constructed/painter']);
    await importInto(directory, replicate(), ['constructed/official', 'constructed/community']);
    expect(await statusesOf(directory)).toEqual({
      'fal/constructed-painter': '200',
      'replicate/constructed-official': '200',
      'replicate/constructed-community': '200',
    });
  });

  it.each(publicServers)(
    'run end to end: a list as $server publishes it',
    async ({ server: name, list, facts }) => {
      const directory = temporaryFolder('imported');
      server.served = list;
      const provider = `constructed-${name.toLowerCase().replaceAll(/\W/g, '')}`;
      const source = openAiCompatibleSource({
        name: provider,
        api: new SourceApi(`${server.url}/openai`, {}, signal),
        declares: true,
        facts: () => ({
          usdPerMillionInput: 1,
          usdPerMillionOutput: 2,
          contextTokens: 4096,
          imageCents: 1,
          ...facts,
        }),
      });
      const { added } = await importInto(directory, source);
      const statuses = await statusesOf(directory);
      expect(Object.keys(statuses)).toHaveLength(added.length - 1);
      expect(added.length).toBeGreaterThan(1);
      expect(Object.entries(statuses).filter(([, status]) => status !== '200')).toEqual([]);
    },
  );

  const recorded = path.join(import.meta.dirname, '../../../shared/data/schemas');
  const documentsIn = (folder: string): [string, string][] =>
    readdirSync(path.join(recorded, folder))
      .filter((name) => name.endsWith('.json'))
      .map((name) => [name, readFileSync(path.join(recorded, folder, name), 'utf8')]);

  // The documents were recorded; their addresses, categories and prices here are constructed.
  (existsSync(recorded) ? describe : describe.skip)('of recorded documents', () => {
    it('run end to end', async () => {
      const directory = temporaryFolder('imported');
      server.endpoints.length = 0;
      for (const [name, text] of ['fal', 'fal-full'].flatMap(documentsIn)) {
        const { paths = {} } = JSON.parse(text) as { paths?: Record<string, unknown> };
        const [published] = Object.keys(paths).sort((one, other) => one.length - other.length);
        const id = `recorded/${(published ?? `/x/${name.replace('.json', '').toLowerCase()}`).split('/').slice(2).join('/')}`;
        const isVideo = /video|veo|happy/i.test(name);
        server.endpoints.push({
          id,
          openapi: JSON.parse(published === undefined ? text : text.replaceAll(published, `/${id}`)),
          metadata: { category: isVideo ? 'text-to-video' : 'text-to-image' },
          price: {
            unit_price: 0.05,
            unit: isVideo ? 'seconds' : /flux|ideogram/i.test(name) ? 'megapixels' : 'images',
          },
        });
      }
      const names = documentsIn('replicate').map(([name, text]) => {
        const id = name.replace('.json', '').replace('__', '/');
        server.models.set(id, {
          latest_version: { id: id.replaceAll(/\W/g, ''), openapi_schema: JSON.parse(text) },
        });
        return id;
      });
      const unbounded = falSource({
        api: new SourceApi(`${server.url}/fal`, {}, signal),
        hasKey: true,
        maxCents: () => undefined,
      });
      const first = await importInto(directory, unbounded);
      const second = await importInto(directory, fal());
      const third = await importInto(directory, replicate(), names);
      const statuses = await statusesOf(directory);
      expect(Object.entries(statuses).filter(([, status]) => status !== '200')).toEqual([]);
      expect([first.added.length + second.added.length, third.added.length]).toEqual([33, 10]);
    });
  });
});

failOnLeftovers();
