import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  builtInDirectories,
  type Catalog,
  checkCatalog,
  detail,
  type JsonSchema,
  loadCatalog,
  openApiDocument,
  upperBoundMicros,
} from './index.js';
import { routerModelDetail } from '#schemas';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await loadCatalog();
});

/** Every schema below `schema`, itself included, with its pointer. */
function* within(schema: JsonSchema, at = ''): Generator<[string, JsonSchema]> {
  yield [at, schema];
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* within(child, `${at}/${name}`);
  for (const branch of schema.anyOf ?? []) yield* within(branch, at);
  if (schema.items) yield* within(schema.items, `${at}/*`);
}

describe('the rows that come with the providers', () => {
  it('pass the operator check: examples are accepted, counter-examples fail as stated', async () => {
    expect(await checkCatalog({ providers: ['bfl', 'fal'] })).toEqual([]);
  });

  it('cover both providers', () => {
    const providers = catalog.models.map(({ provider }) => provider);
    expect(providers.filter((name) => name === 'bfl').length).toBeGreaterThanOrEqual(4);
    expect(providers.filter((name) => name === 'fal').length).toBeGreaterThanOrEqual(4);
  });

  it('are complete: schema, description of every input, example, two counter-examples, a price', () => {
    for (const model of catalog.models) {
      const input = model.input ?? {};
      const undescribed = Object.entries(input.properties ?? {})
        .filter(([, property]) => property.description === undefined)
        .map(([name]) => name);
      expect([model.id, undescribed]).toEqual([model.id, []]);
      const open = [...within(input)].filter(
        ([, schema]) => schema.type === 'object' && schema.additionalProperties !== false,
      );
      expect([model.id, open]).toEqual([model.id, []]);
      expect(model.counterExamples.length).toBeGreaterThanOrEqual(2);
      expect(model.output?.schema).toBeDefined();
      expect(model.assetPointers.length).toBeGreaterThan(0);
      expect(upperBoundMicros(model, model.example)).toBeGreaterThan(0);
      expect(openApiDocument(model, 'v2').bytes.length).toBeGreaterThan(500);
      expect(
        routerModelDetail.parse(detail(model, { publicBaseUrl: 'https://router.example', generation: 'v2' })),
      ).toHaveProperty('input_schema_url');
    }
  });

  it('leave the router time to answer before its own bound', () => {
    for (const { budgetMs } of catalog.models) expect(budgetMs).toBeLessThan(600_000);
  });
});

describe('builtInDirectories', () => {
  it('finds the same folders from the sources and from the build output', () => {
    const root = join(import.meta.dirname, '../../..');
    const directories = builtInDirectories();
    expect(directories).toContain(join(root, 'libs/providers/src/providers/bfl/models'));
    expect(directories.every((directory) => existsSync(directory))).toBe(true);
    expect(builtInDirectories(join(root, 'dist/libs/catalog/src'))).toEqual(directories);
  });

  it('says so when there is no package root', () => {
    expect(() => builtInDirectories('/')).toThrow('no package.json above /');
  });
});
