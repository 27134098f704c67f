import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { count, diff, directory, importFal, paint, server, usePublishingServer } from './importing.js';
import { falDocument } from './publishing-server.js';
import { runAdmin } from './run-admin.js';

usePublishingServer();

const style = (...values: string[]) => ({ ...count, style: { type: 'string', enum: values } });

describe('admin catalog diff fal', () => {
  it('prints a changed enum, a removed endpoint and a new price, and exits with 1', async () => {
    for (const name of ['same', 'styled', 'gone', 'dear', 'old', 'edited'])
      server.endpoints.push(
        paint(`studio/${name}`, { openapi: falDocument(`studio/${name}`, style('oil', 'ink')) }),
      );
    await importFal('--all');
    const same = await diff(path.join(directory, 'fal__studio-same.yaml'), '--api', `${server.url}/fal`);
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
