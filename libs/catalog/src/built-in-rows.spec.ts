import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { inputErrors } from './check-input.js';
import {
  atOrigin,
  builtInDirectories,
  type Catalog,
  checkCatalog,
  detail,
  type JsonSchema,
  loadCatalog,
  type Model,
  openApiDocument,
  quote,
} from './index.js';
import { hasEnded } from './model.js';
import { providerList } from '#providers';
import { packageRoot, routerModelDetail } from '#schemas';

const frame = { servers: [], externalDocs: { description: '', url: '' }, operation: {}, components: {} };

let catalog: Catalog;
beforeAll(async () => {
  catalog = await loadCatalog();
});

/** The schema and every schema below it, with their pointers. */
function* within(schema: JsonSchema, at = ''): Generator<[string, JsonSchema]> {
  yield [at, schema];
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* within(child, `${at}/${name}`);
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* within(branch, at);
  if (schema.items) yield* within(schema.items, `${at}/*`);
}

const ofProtocol = (protocol: string) =>
  catalog.models.filter(
    ({ provider, upstream }) => provider === 'openai' && upstream['protocol'] === protocol,
  );
const rates = ({ price, constants }: Model) => [
  constants,
  JSON.stringify(price.reported).replaceAll('prompt_t', 'input_t').replaceAll('completion_t', 'output_t'),
];

/** The members of a value that its schema does not name, although it names others. Types of clients lack them. */
const membersOutside = ({ properties, items, anyOf, oneOf }: JsonSchema, value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap((each) => (items ? membersOutside(items, each) : []));
  if (typeof value !== 'object' || value === null || !properties || anyOf || oneOf) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const schema = properties[name];
    return schema ? membersOutside(schema, each) : [name];
  });
};

describe('the built-in rows', () => {
  it('pass `admin catalog check`: examples pass, counter-examples fail as stated, and no model has ended', async () => {
    const findings = await checkCatalog();
    // The coming end of a model is not a failure here, but a missing successor is.
    expect(findings.filter(({ pointer, isWarning }) => !(isWarning && pointer === '/ends'))).toEqual([]);
  });

  it('have the day on which they were added', () => {
    const today = new Date().toISOString().slice(0, 10);
    const undated = catalog.models.filter(({ added }) => added === undefined || added > today);
    expect(undated.map(({ id }) => id)).toEqual([]);
  });

  it('cover every provider', () => {
    const covered = new Set(catalog.models.map(({ provider }) => provider));
    expect(providerList.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([]);
  });

  it('priced by tokens have a likely length of an answer, unless the input must limit it', () => {
    const open = catalog.models.filter(
      ({ stream, price }) =>
        stream !== undefined &&
        [price, ...price.plus].some(({ times }) =>
          times.some((factor) => 'number' in factor && (factor.max ?? 0) > factor.default),
        ),
    );
    expect(open.length).toBeGreaterThan(40);
    expect(open.filter(({ price }) => price.likely === undefined).map(({ id }) => id)).toEqual([]);
    for (const model of open) {
      const { upperMicros, likelyMicros = NaN, computedMicros } = quote(model, { ...model.constants });
      expect([model.id, likelyMicros < upperMicros, likelyMicros >= computedMicros]).toEqual([
        model.id,
        true,
        true,
      ]);
    }
  });

  it('name the files of the output if nothing else identifies a result', () => {
    const unnamed = catalog.models.filter(
      (model) => model.provider === 'fal' && !hasEnded(model) && model.assetPointers.length === 0,
    );
    expect(unnamed.map(({ id }) => id)).toEqual([]);
  });

  it('are complete: texts, schema, description of every input, example, two counter-examples, a price', () => {
    for (const model of catalog.models) {
      const { title, description, modalities, price, input } = model;
      expect([model.id, title, description, modalities, price.source, price.date]).not.toContain(undefined);
      const undescribed = Object.entries(input.properties ?? {})
        .filter(([, property]) => property.description === undefined)
        .map(([name]) => name);
      expect([model.id, undescribed]).toEqual([model.id, []]);
      expect(model.counterExamples.length).toBeGreaterThanOrEqual(2);
      const output = model.output?.schema;
      const isJson = model.output?.mediaType === 'application/json';
      expect([model.id, output !== undefined, model.output?.example !== undefined]).toEqual([
        model.id,
        isJson,
        isJson,
      ]);
      const wrongInExample = inputErrors({ ...model, input: output ?? {} }, model.output?.example);
      expect([model.id, wrongInExample]).toEqual([model.id, []]);
      expect([model.id, membersOutside(output ?? {}, model.output?.example)]).toEqual([model.id, []]);
      // A result without assets contains its files inline.
      const urls = [...within(output ?? {})].filter(([, schema]) => schema.format === 'uri');
      expect([model.id, model.assetPointers.length > 0 || urls.length === 0]).toEqual([model.id, true]);
      expect(quote(model, model.example).upperMicros).toBeGreaterThan(0);
      expect(openApiDocument(model, 'v2', frame).bytes.length).toBeGreaterThan(500);
      expect(
        routerModelDetail.parse(detail(model, { publicBaseUrl: 'https://router.example', generation: 'v2' })),
      ).toHaveProperty('input_schema_url');
    }
  });

  it('are as open as their providers: unknown fields pass', () => {
    const closed = catalog.models.filter(
      (model) =>
        [...within(model.input)].some(([, schema]) => schema.additionalProperties === false) ||
        inputErrors(model, { ...model.example, a_new_field: { of: 'the provider' } }).length > 0,
    );
    expect(closed.map(({ id }) => id)).toEqual([
      'bfl/flux-3-image',
      'bfl/flux-3-video',
      'openai/gpt-4o-mini-tts',
      'openai/tts-1',
      'openai/tts-1-hd',
      'runway/aleph2',
    ]);
  });

  it('have neither foreign URLs nor seeds in their examples: files are samples of the console, which exist', () => {
    const origin = 'https://service.example';
    const found = new Set<string>();
    for (const model of catalog.models) {
      for (const [url] of JSON.stringify(atOrigin(model.example, origin)).matchAll(
        /[a-z][a-z0-9+.]*:\/\/[^"]+/gi,
      )) {
        expect([model.id, url]).toEqual([model.id, expect.stringContaining(`${origin}/console/samples/`)]);
        found.add(url.slice(`${origin}/console/samples/`.length));
      }
    }
    const seeded = catalog.models.filter(({ example }) => /"seed"/i.test(JSON.stringify(example)));
    expect(seeded.map(({ id }) => id)).toEqual([]);
    const samples = join(packageRoot(), 'apps/console/public/samples');
    expect([...found].sort()).toEqual(readdirSync(samples).sort());
  });

  it('name the model themselves: a body may leave the name out or repeat it, but cannot run another model', () => {
    for (const model of catalog.models) {
      for (const [name, value] of Object.entries(model.constants ?? {})) {
        expect([model.id, model.example]).not.toHaveProperty(`1.${name}`);
        expect(inputErrors(model, { ...model.example, [name]: value })).toEqual([]);
        const [error] = inputErrors(model, { ...model.example, [name]: 'a-dearer-model' });
        expect([model.id, error?.loc]).toEqual([model.id, ['body', name]]);
      }
    }
  });

  it('accept no field that makes a provider call or store elsewhere', () => {
    const elsewhere = /webhook|callback|notify|pubsub|storage_?uri/i;
    for (const model of catalog.models) {
      const fields = [...within(model.input)].flatMap(([, { properties }]) =>
        Object.entries(properties ?? {}),
      );
      const accepted = fields.filter(([name, schema]) => elsewhere.test(name) && schema.not === undefined);
      expect([model.id, accepted]).toEqual([model.id, []]);
      const [error] = inputErrors(model, { ...model.example, webhook_url: 'https://caller.example' });
      expect([model.id, error?.type]).toEqual([model.id, 'extra_forbidden']);
    }
  });

  it('name the document about rejected runs and its date, except those of providers that are left', () => {
    const dated = /; \d{4}-\d\d-\d\d$/;
    const known = catalog.models.filter(
      ({ chargesOnPolicyRejection }) => chargesOnPolicyRejection !== 'unknown',
    );
    const unsourced = known.filter(
      ({ policy_source: source }) => source === undefined || !dated.test(source),
    );
    // This list may only become shorter.
    expect([...new Set(unsourced.map(({ provider }) => provider))].toSorted()).toEqual(['meshy', 'xai']);
  });

  it('have each OpenAI text model by Chat Completions too, at the same rates, if OpenAI serves it so', () => {
    const served = ofProtocol('text').filter(({ id }) => !id.endsWith('-pro'));
    expect(ofProtocol('chat').map(rates)).toEqual(served.map(rates));
  });

  it('have not ended', () => {
    expect(catalog.models.filter(hasEnded).map(({ id }) => id)).toEqual([]);
  });

  it('have a limited time budget', () => {
    for (const { budgetMs } of catalog.models) expect(budgetMs).toBeLessThanOrEqual(1_200_000);
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

  it('throws if there is no package root', () => {
    expect(() => builtInDirectories('/')).toThrow('no package.json above /');
  });
});
