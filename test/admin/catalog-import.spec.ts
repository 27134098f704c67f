import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { importModels } from '../../apps/admin/src/catalog-import/import-models.js';
import { RowDirectory } from '../../apps/admin/src/catalog-import/row-directory.js';
import { SourceApi } from '../../apps/admin/src/catalog-import/source-api.js';
import { falSource } from '../../apps/admin/src/catalog-import/sources/fal.js';
import {
  count,
  directory,
  env,
  expectValid,
  filesIn,
  importFal,
  paint,
  prices,
  rowOf,
  server,
  usePublishingServer,
} from './importing.js';
import { falDocument } from './publishing-server.js';
import { runAdmin } from './run-admin.js';

usePublishingServer();

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
    const text = readFileSync(edited, 'utf8').replace('"title": "Paint"', '"title": "Ours"');
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
