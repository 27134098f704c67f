import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { providerList } from '#providers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { inputErrors } from './check-input.js';
import type { JsonSchema } from './json-schema.js';
import { loadCatalog } from './load-catalog.js';
import { breaking, valid } from './testing/from-schema.js';
import { fieldsOf, namesField, providerSchemaOf } from './testing/provider-schemas.js';

interface Difference {
  rows: string;
  fields: string[];
  why: string;
}

const file = join(import.meta.dirname, 'testing', 'provider-differences.yaml');
const meant = parse(readFileSync(file, 'utf8')) as Difference[];
const met = new Set<string>();

const valuesEach = 5;
const seed = 20_261_123;

const ajv = new Ajv2020({ strict: false, validateFormats: false, unicodeRegExp: false });
const { models } = await loadCatalog();
const rows = models.flatMap((model) => {
  const schema = providerSchemaOf(model);
  // The schema of OpenAI's edits describes their JSON, and this protocol sends a form.
  const isForm = model.upstream['protocol'] === 'edits';
  return schema && !isForm && model.example ? [{ id: model.id, model, schema }] : [];
});

type Body = Record<string, unknown>;

const withField = (body: Body, [name = '', ...rest]: readonly string[], value: unknown): Body => ({
  ...body,
  [name]: rest.length === 0 ? value : withField((body[name] ?? {}) as Body, rest, value),
});

/** Files that are uploaded first, so the provider sees the ids it assigned. */
function uploadIds(provider: string): Body {
  const { declaration = '{}' } = providerList.find(({ name }) => name === provider) ?? {};
  const places: string[] = JSON.parse(declaration).submit?.upload?.paths ?? [];
  return Object.fromEntries(places.map((place) => [place.slice(1), 7]));
}

function isMeant(id: string, field: string): boolean {
  const found = meant.filter(({ rows: of, fields }) => new RegExp(of).test(id) && fields.includes(field));
  for (const { rows: of } of found) met.add(`${of} ${field}`);
  return found.length > 0;
}

describe.each(rows)('$id compared with the schema of its provider', ({ id, model, schema }) => {
  const isTheirs = ajv.compile(schema);
  const base: Body = { ...model.constants, ...model.example, ...uploadIds(model.provider) };
  const fields = fieldsOf(schema, base, (branch: JsonSchema) => ajv.validate(branch, base)).filter(
    ({ at }) => !Object.hasOwn(model.constants ?? {}, at[0] ?? ''),
  );
  const differences = (all: { at: string[]; body: Body; differs: boolean }[]) =>
    all
      .filter(({ at, differs }) => differs && !isMeant(id, at.join('/')))
      .map(({ at, body }) => [at.join('/'), JSON.stringify(body).slice(0, 300)]);

  it('has an example that the provider accepts', () => {
    expect([isTheirs(base), isTheirs.errors]).toEqual([true, null]);
  });

  it('accepts what the provider accepts', () => {
    const tried = fields.flatMap(({ at, schema: of }) =>
      fc
        .sample(valid(of), { numRuns: valuesEach, seed })
        .map((value) => withField(base, at, value))
        .filter((body) => isTheirs(body))
        .map((body) => ({ at, body, differs: inputErrors(model, body).length > 0 })),
    );
    expect(differences(tried)).toEqual([]);
  });

  it('rejects, at the same field, what the provider rejects of a field that the row declares', () => {
    const tried = fields
      .filter(({ at }) => namesField(model.input, at))
      .flatMap(({ at, schema: of }) =>
        breaking(of)
          .map((value) => withField(base, at, value))
          .filter((body) => !isTheirs(body))
          .map((body) => {
            const places = inputErrors(model, body).map(({ loc }) => loc.slice(1, at.length + 1).join('/'));
            return { at, body, differs: !places.includes(at.join('/')) };
          }),
      );
    expect(differences(tried)).toEqual([]);
  });
});

it('most rows have a provider schema', () => {
  expect(rows.length).toBeGreaterThanOrEqual(120);
});

it('the list of differences has no stale entry', () => {
  const stale = meant.flatMap(({ rows: of, fields }) =>
    fields.filter((field) => !met.has(`${of} ${field}`)).map((field) => `${of} ${field}`),
  );
  expect(stale).toEqual([]);
});
