import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { checkCatalog } from '#catalog';
import { importModels, type Imported } from '../../apps/admin/src/catalog-import/import-models.js';
import { RowDirectory } from '../../apps/admin/src/catalog-import/row-directory.js';
import { SourceApi } from '../../apps/admin/src/catalog-import/source-api.js';
import { falSource } from '../../apps/admin/src/catalog-import/sources/fal.js';
import { temporaryFolder } from '../harness/index.js';
import {
  falDocument,
  type PublishedEndpoint,
  PublishingServer,
  replicateDocument,
} from './publishing-server.js';
import { runAdmin } from './run-admin.js';

const env = { PROVIDER_FAL_KEY: 'key-of-fal', PROVIDER_REPLICATE_KEY: 'key-of-replicate' };
const prices = { image: { unit_price: 0.04, unit: 'image' } };
const count = { num_images: { type: 'integer', minimum: 1, maximum: 4, default: 1 } };

const paint = (id: string, more: Partial<PublishedEndpoint> = {}): PublishedEndpoint => ({
  id,
  openapi: falDocument(id, count),
  metadata: { display_name: 'Paint', category: 'text-to-image', description: 'Paints.' },
  price: prices.image,
  ...more,
});

let server: PublishingServer;
let directory: string;

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

async function importFal(...words: string[]): Promise<Imported & { code: number }> {
  const { code, out, error } = await fal(...words);
  if (out === '') throw new Error(error);
  return { code, ...(JSON.parse(out) as Imported) };
}

const diff = (...words: string[]) => runAdmin(env, 'catalog', 'diff', ...words);
const rowOf = (name: string) =>
  parse(readFileSync(path.join(directory, `${name}.yaml`), 'utf8')) as Record<string, unknown>;
const filesIn = (folder: string) => readdirSync(folder).sort();

const expectValid = async () =>
  expect((await checkCatalog({ directories: [directory] })).map(({ reason }) => reason)).toEqual([]);

describe('admin catalog import fal', () => {
  it('writes a row that is priced by the unit, with the published document beside it', async () => {
    server.endpoints.push(paint('fal-ai/painter/v9'), paint('studio/painter'));
    const result = await importFal('--endpoint', 'fal-ai/painter/v9', 'studio/painter');
    expect(result).toMatchObject({ code: 0, added: ['fal-ai/painter/v9', 'studio/painter'], skipped: [] });
    const { input, ...row } = rowOf('fal__painter-v9');
    expect(row).toEqual({
      id: 'fal/painter-v9',
      aliases: ['fal-ai/painter/v9'],
      title: 'Paint',
      description: 'Paints.',
      modalities: { in: ['text'], out: ['image'] },
      upstream: { path: 'fal-ai/painter/v9' },
      charges_on_policy_rejection: 'unknown',
      price: {
        usd: 0.04,
        times: [{ number: '/num_images', default: 1 }],
        reported: [{ header: 'x-fal-billable-units', usd: 0.04 }],
        source: `${server.url}/fal/models/pricing: 0.04 dollars per image`,
        date: new Date().toISOString().slice(0, 10),
      },
      assets: ['/images/*/url'],
      output: {
        media_type: 'application/json',
        schema: { $ref: expect.stringMatching(/#\/components\/schemas\/PaintOutput$/) },
      },
      example: { prompt: 'A lighthouse at dusk' },
      generated: {
        from: `${server.url}/fal/models?endpoint_id=fal-ai%2Fpainter%2Fv9`,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        at: new Date().toISOString().slice(0, 10),
      },
    });
    const [document = ''] = String(Object(input).$ref).split('#');
    expect(JSON.parse(readFileSync(path.join(directory, document), 'utf8'))).toEqual(
      server.endpoints[0]?.openapi,
    );
    expect(rowOf('fal__studio-painter')).toMatchObject({
      id: 'fal/studio-painter',
      aliases: ['studio/painter'],
    });
    expect([...server.keys]).toEqual(['Key key-of-fal']);
    await expectValid();
  });

  it('reads all pages by their cursor, and prices in calls of at most 50 endpoints', async () => {
    server.pageSize = 70;
    for (let each = 0; each < 120; each += 1) server.endpoints.push(paint(`studio/painter-${each}`));
    server.endpoints.push(
      paint('studio/old', { metadata: { category: 'text-to-image', status: 'deprecated' } }),
    );
    const { code, added } = await importFal('--all');
    expect([code, added.length]).toEqual([0, 120]);
    const priced = server.requests.filter((each) => each.startsWith('/fal/models/pricing'));
    expect(priced.map((each) => each.split('endpoint_id=').length - 1)).toEqual([50, 20, 50]);
    expect(server.requests.filter((each) => each.includes('cursor='))).toHaveLength(1);
  });

  it.each([
    [
      'megapixel',
      {
        image_size: {
          anyOf: [
            { type: 'object', properties: { width: { type: 'integer' }, height: { type: 'integer' } } },
            { enum: ['square_hd', 'square'], type: 'string' },
          ],
          default: 'square',
        },
      },
      [{ megapixels: ['/image_size/width', '/image_size/height'], default: 1, max: 2, min: 1 }],
    ],
    [
      'second',
      { duration: { type: 'string', enum: ['5', '10'], default: '5' } },
      [{ number: '/duration', default: 5 }],
    ],
    [
      'second',
      { duration: { type: 'string', enum: ['auto', '4s', '8s'], default: 'auto' } },
      [{ number: '/duration', default: 8, max: 8 }],
    ],
    ['1000 characters', {}, [{ characters: '/prompt', per: 1000 }]],
    ['request', {}, undefined],
  ])('prices per %s', async (unit, properties, times) => {
    server.endpoints.push(
      paint('studio/x', { openapi: falDocument('studio/x', properties), price: { unit_price: 0.5, unit } }),
    );
    expect(await importFal('--endpoint', 'studio/x')).toMatchObject({ code: 0, skipped: [] });
    const { times: factors, usd } = rowOf('fal__studio-x')['price'] as { times: unknown; usd: number };
    expect([usd, factors]).toEqual([0.5, times]);
    await expectValid();
  });

  it('needs --max-cents where the input does not bound the price', async () => {
    server.endpoints.push(paint('studio/x', { price: { unit_price: 0.001, unit: 'compute second' } }));
    expect(await importFal('--endpoint', 'studio/x')).toMatchObject({
      code: 1,
      skipped: [
        { name: 'studio/x', reason: 'the input does not bound a price per compute second: give --max-cents' },
      ],
    });
    expect(await importFal('--endpoint', 'studio/x', '--max-cents', '40')).toMatchObject({
      code: 0,
      added: ['studio/x'],
    });
    expect(rowOf('fal__studio-x')['price']).toMatchObject({
      usd: 0.4,
      reported: [{ header: 'x-fal-billable-units', usd: 0.001 }],
    });
  });

  it('skips and names what it cannot use, and writes the others', async () => {
    const circular = falDocument('studio/cycle', { more: { $ref: '#/components/schemas/PaintInput' } });
    server.endpoints.push(
      paint('studio/cycle', { openapi: circular }),
      paint('studio/pattern', {
        openapi: falDocument('studio/pattern', { code: { type: 'string', pattern: '(?=a)b' } }),
      }),
      paint('studio/large', {
        openapi: { ...falDocument('studio/large', {}), info: { title: 'x'.repeat(5 * 1024 * 1024) } },
      }),
      paint('studio/euro', { price: { ...prices.image, currency: 'EUR' } }),
      paint('studio/bare', { openapi: undefined }),
      paint('studio/hook', { openapi: falDocument('studio/hook', { webhook_url: { type: 'string' } }) }),
      paint('Studio/__', {}),
      paint('studio/old', { metadata: { status: 'deprecated' } }),
      paint('studio/good'),
    );
    const { code, added, skipped } = await importFal(
      '--endpoint',
      ...server.endpoints.map(({ id }) => id),
      'studio/none',
    );
    expect([code, added]).toEqual([1, ['studio/good']]);
    const reasons = Object.fromEntries(skipped.map(({ name, reason }) => [name, reason]));
    expect(reasons).toEqual({
      'studio/cycle': expect.stringContaining('circular'),
      'studio/pattern': expect.stringContaining('linear-time'),
      'studio/large': 'its schema is larger than 4194304 bytes',
      'studio/euro': 'the price is in EUR, not in USD',
      'studio/bare': 'it has no schema',
      'studio/hook': expect.stringContaining('deliver results elsewhere'),
      'Studio/__': 'its name does not form an id',
      'studio/old': 'the source says that it is deprecated',
      'studio/none': 'the source does not publish it',
    });
    expect(filesIn(directory).map((name) => name.replace(/\.[0-9a-f]{12}\./, '.'))).toEqual([
      'fal__studio-good.json',
      'fal__studio-good.yaml',
    ]);
    await expectValid();
  });

  it('reports collisions, and overwrites neither built-in, nor hand-written, nor other imported rows', async () => {
    writeFileSync(path.join(directory, 'fal__studio-own.yaml'), 'id: fal/studio-own\n');
    server.endpoints.push(
      paint('studio/a-b'),
      paint('studio/a/b'),
      paint('fal-ai/flux/dev'),
      paint('studio/own'),
    );
    const { code, added, skipped } = await importFal('--endpoint', ...server.endpoints.map(({ id }) => id));
    expect([code, added]).toEqual([1, ['studio/a-b']]);
    expect(skipped).toEqual([
      { name: 'studio/a/b', reason: expect.stringContaining('was imported from') },
      { name: 'fal-ai/flux/dev', reason: 'fal/flux-dev is already served by fal/flux-dev' },
      { name: 'studio/own', reason: 'fal__studio-own.yaml was not written by an import' },
    ]);
    expect(readFileSync(path.join(directory, 'fal__studio-own.yaml'), 'utf8')).toBe('id: fal/studio-own\n');
  });

  it('updates its rows at the next import, and leaves edited ones as they are', async () => {
    server.endpoints.push(paint('studio/one'), paint('studio/two'), paint('studio/three'));
    await importFal('--all');
    const edited = path.join(directory, 'fal__studio-two.yaml');
    const text = readFileSync(edited, 'utf8').replace('title: Paint', 'title: Ours');
    writeFileSync(edited, text);
    appendFileSync(path.join(directory, 'fal__studio-three.yaml'), '# a remark\n');
    for (const endpoint of server.endpoints)
      endpoint.openapi = falDocument(endpoint.id, { ...count, seed: { type: 'integer' } });
    server.endpoints.push(paint('studio/four'));
    expect(await importFal('--all')).toMatchObject({
      code: 0,
      added: ['studio/four'],
      updated: ['studio/one'],
      edited: [{ name: 'studio/two' }, { name: 'studio/three' }],
    });
    expect(readFileSync(edited, 'utf8')).toBe(text);
    expect(await importFal('--all')).toMatchObject({
      code: 0,
      updated: [],
      unchanged: ['studio/one', 'studio/four'],
    });
    // Each row has only its current document.
    expect(filesIn(directory).filter((name) => name.endsWith('.json'))).toHaveLength(4);
    await expectValid();
  });

  it('waits as long as Retry-After says, and skips what stays unreadable', async () => {
    server.endpoints.push(paint('studio/x'));
    server.failure = { status: 429, times: 1, headers: { 'retry-after': '1' } };
    expect(await importFal('--endpoint', 'studio/x')).toMatchObject({ code: 0, added: ['studio/x'] });
    server.failure = { status: 503, times: 100 };
    expect(await importFal('--endpoint', 'studio/y')).toMatchObject({
      code: 1,
      skipped: [{ name: 'studio/y', reason: `${server.url}/fal/models answered 503` }],
    });
    server.failure = { status: 429, times: 1, headers: { 'retry-after': '86400' } };
    expect(await importFal('--all')).toMatchObject({
      code: 1,
      skipped: [{ name: 'the rest of the list', reason: `${server.url}/fal/models answered 429` }],
    });
  });

  it('skips everything if the API is unreachable', async () => {
    const words = ['--endpoint', 'studio/x', '--to', directory, '--api', 'http://127.0.0.1:9'];
    const { code, out } = await runAdmin(env, 'catalog', 'import', 'fal', ...words);
    expect([code, out]).toEqual([1, expect.stringMatching(/^Skipped studio\/x: .* could not be read: /)]);
    expect(filesIn(directory)).toEqual([]);
  });

  it('stops between two files when it is interrupted, and the next import continues', async () => {
    for (let each = 0; each < 9; each += 1) server.endpoints.push(paint(`studio/painter-${each}`));
    const stop = new AbortController();
    const source = falSource({
      api: new SourceApi(`${server.url}/fal`, {}, stop.signal),
      hasKey: true,
      maxCents: () => undefined,
    });
    const rows = await RowDirectory.open(directory, []);
    const progress = (done: number) => void (done === 4 && stop.abort());
    const result = await importModels(source, rows, { signal: stop.signal, progress });
    expect(result.added).toHaveLength(4);
    expect(result.skipped).toEqual([{ name: 'the rest', reason: 'the command was interrupted' }]);
    expect(filesIn(directory)).toHaveLength(8);
    await expectValid();
    expect(await importFal('--all')).toMatchObject({
      code: 0,
      added: { length: 5 },
      unchanged: { length: 4 },
    });
  });
});

describe('admin catalog import replicate', () => {
  const replicate = (...words: string[]) =>
    runAdmin(
      env,
      'catalog',
      'import',
      'replicate',
      ...words,
      '--to',
      directory,
      '--api',
      `${server.url}/replicate`,
    );
  const files = { type: 'array', items: { type: 'string', format: 'uri' } };
  beforeEach(() => {
    const published = {
      description: 'Paints.',
      latest_version: { id: 'abc123', openapi_schema: replicateDocument(files) },
    };
    server.models.set('acme/official', { ...published, is_official: true });
    server.models.set('someone/community', published);
    server.models.set('someone/empty', { latest_version: null });
  });

  it('addresses official models by name, and community models by version', async () => {
    const { code, out } = await replicate('acme/official', 'someone/community', '--usd-per-second', '0.001');
    expect([code, out]).toEqual([0, '2 added, 0 updated, 0 unchanged, 0 kept, 0 skipped.\n']);
    expect(rowOf('replicate__acme-official')).toMatchObject({
      upstream: { path: 'models/acme/official/predictions', model: 'acme/official' },
      price: { usd: 0.54, reported: [{ path: '/metrics/predict_time', usd: 0.001 }] },
      assets: ['/output/*'],
    });
    expect(rowOf('replicate__someone-community')['upstream']).toEqual({
      path: 'predictions',
      model: 'someone/community',
      version: 'abc123',
    });
    await expectValid();
  });

  it('bills runs at the given price', async () => {
    expect((await replicate('acme/official', '--usd', '0.05')).code).toBe(0);
    expect(rowOf('replicate__acme-official')['price']).toMatchObject({ usd: 0.05 });
    expect((await replicate('acme/official')).code).toBe(2);
  });

  it('skips unknown models and models without a version', async () => {
    const { code, out } = await replicate('acme/none', 'someone/empty', '--usd', '1');
    expect([code, out.split('\n').slice(0, 2)]).toEqual([
      1,
      ['Skipped acme/none: the source does not publish it', 'Skipped someone/empty: it has no version'],
    ]);
  });

  it('finds a new version by diff', async () => {
    await replicate('acme/official', 'someone/community', '--usd', '1');
    const latest = { latest_version: { id: 'def456', openapi_schema: replicateDocument(files) } };
    server.models.set('someone/community', latest);
    const file = path.join(directory, 'replicate__someone-community.yaml');
    const { code, out } = await diff(file, '--api', `${server.url}/replicate`);
    expect([code, out.split('\n')[0]]).toEqual([
      1,
      'Changed replicate/someone-community: upstream.version: "abc123" is now "def456"',
    ]);
  });
});

const serverImport = () => [
  'catalog',
  'import',
  'openai-compatible',
  'lab',
  '--base-url',
  `${server.url}/openai`,
  '--to',
  directory,
  '--usd-per-million-input',
  '0.5',
  '--usd-per-million-output',
  '1.5',
];

describe('admin catalog import openai-compatible', () => {
  beforeEach(() => {
    server.served = [
      { id: 'Acme/Chat-7B', object: 'model', max_model_len: 8192 },
      { id: 'acme-embed-2', object: 'model', context_length: 512 },
      { id: 'acme-tts', object: 'model' },
    ];
  });

  it('declares the provider, and writes a row for each model that the server lists', async () => {
    const { code, out } = await runAdmin({ PROVIDER_LAB_KEY: 'key-of-lab' }, ...serverImport());
    expect([code, out.split('\n')[0]]).toEqual([
      1,
      'Skipped acme-tts: it is neither for chat, nor for embeddings, nor for images',
    ]);
    expect(server.keys).toContain('Bearer key-of-lab');
    expect(rowOf('lab')).toMatchObject({ provider: 'lab', base: `${server.url}/openai` });
    expect(rowOf('lab__acme-chat-7b')).toMatchObject({
      id: 'lab/acme-chat-7b',
      constants: { model: 'Acme/Chat-7B' },
      upstream: { path: 'chat/completions' },
      price: { usd: 5e-7, reported: [{ usd: 5e-7 }, { usd: 1.5e-6 }] },
    });
    expect(rowOf('lab__acme-embed-2')['upstream']).toEqual({ path: 'embeddings' });
    await expectValid();
  });

  it('needs --context-tokens where the server does not state the length of the context', async () => {
    server.served = [{ id: 'plain', object: 'model' }];
    expect((await runAdmin(env, ...serverImport())).out).toContain(
      'Skipped plain: the server does not state',
    );
    expect((await runAdmin(env, ...serverImport(), '--context-tokens', '4096')).code).toBe(0);
  });

  it('finds added and removed models by diff', async () => {
    await runAdmin(env, ...serverImport());
    server.served = [
      { id: 'acme-embed-2', context_length: 512 },
      { id: 'new-chat', max_model_len: 100 },
    ];
    const { code, out } = await diff('lab', directory);
    expect([code, out]).toEqual([
      1,
      'Added new-chat\nRemoved lab/acme-chat-7b (Acme/Chat-7B)\n' +
        '2 rows compared: 1 models added, 1 removed, 0 deprecated, 0 changed, 0 skipped.\n',
    ]);
  });

  it('refuses the name of a built-in provider', async () => {
    const { code } = await runAdmin(env, ...serverImport().map((word) => (word === 'lab' ? 'openai' : word)));
    expect(code).toBe(2);
  });
});

const style = (...values: string[]) => ({ ...count, style: { type: 'string', enum: values } });

describe('admin catalog diff fal', () => {
  it('prints a changed enum, a removed endpoint and a new price, and exits with 1', async () => {
    for (const name of ['same', 'styled', 'gone', 'dear', 'old', 'edited'])
      server.endpoints.push(
        paint(`studio/${name}`, { openapi: falDocument(`studio/${name}`, style('oil', 'ink')) }),
      );
    await importFal('--all');
    const file = (name: string) => path.join(directory, `fal__studio-${name}.yaml`);
    const same = await diff(file('same'), '--api', `${server.url}/fal`);
    expect([same.code, same.out]).toEqual([
      0,
      '1 rows compared: 0 models added, 0 removed, 0 deprecated, 0 changed, 0 skipped.\n',
    ]);
    const [, styled, , dear, old] = server.endpoints;
    if (!styled || !dear || !old) throw new Error('no endpoints');
    styled.openapi = falDocument('studio/styled', { ...style('oil', 'chalk'), seed: { type: 'integer' } });
    dear.price = { unit_price: 0.09, unit: 'image' };
    old.metadata = { status: 'deprecated' };
    server.endpoints.splice(2, 1);
    server.endpoints.push(paint('studio/new'));
    const { code, out } = await diff('fal', directory, '--api', `${server.url}/fal`);
    expect(code).toBe(1);
    const own = out.split('\n').filter((line) => line.includes('studio'));
    expect(own).toEqual([
      'Added studio/new',
      'Removed fal/studio-gone (studio/gone)',
      'Deprecated fal/studio-old (studio/old)',
      expect.stringMatching(/^Changed fal\/studio-dear: price: .*0\.04.* is now .*0\.09/),
      'Changed fal/studio-styled: /style: new values "chalk"',
      'Changed fal/studio-styled: /style: values removed "ink"',
      'Changed fal/studio-styled: /seed: new field',
    ]);
  });
});

describe('admin catalog check', () => {
  it('warns of prices that are older than the setting', async () => {
    const read = new Date(Date.now() - 100 * 86_400_000).toISOString().slice(0, 10);
    writeFileSync(
      path.join(directory, 'old.yaml'),
      `id: fal/old\nupstream: { path: x }\ncharges_on_policy_rejection: unknown\nprice: { usd: 1, date: ${read} }\n`,
    );
    const checked = await runAdmin({}, 'catalog', 'check', directory);
    expect(checked.code).toBe(0);
    expect(checked.out).toContain(
      `old.yaml#/price/date: the price was read on ${read}, more than 90 days ago`,
    );
    const lenient = await runAdmin({ CATALOG_PRICE_DAYS: '101' }, 'catalog', 'check', directory);
    expect(lenient.out).not.toContain('old.yaml');
  });
});
