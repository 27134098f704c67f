import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { providerList } from '#providers';
import type { JsonSchema } from '../json-schema.js';
import type { Model } from '../model.js';

const folder = path.join(import.meta.dirname, '../../../../apps/simulator/schemas');

interface StoredSchema {
  path: string;
  schema: JsonSchema;
}

/** The provider's published schema for the calls of this row, as stored for the simulator. */
export function providerSchemaOf(model: Model): JsonSchema | undefined {
  const definition = providerList.find(({ name }) => name === model.provider);
  const ofProvider = path.join(folder, model.provider);
  if (!definition || !existsSync(ofProvider)) return undefined;
  const { upstream, id } = model;
  const adapter = definition.create(definition.defaultBase, {});
  const { url } = adapter.submit({ runId: 'r', model: id, upstream, body: Buffer.from('{}') });
  // A row may use another host of the provider, on which the path after the base is the same.
  const address = new URL(url).pathname.slice(
    new URL(definition.defaultBase).pathname.replace(/\/$/, '').length,
  );
  for (const name of readdirSync(ofProvider)) {
    const file = JSON.parse(readFileSync(path.join(ofProvider, name), 'utf8')) as StoredSchema;
    if (new RegExp(`^${file.path.replaceAll(/\{\w+\}/g, '[^/:]+')}$`).test(address)) return file.schema;
  }
  return undefined;
}

interface Facts {
  properties?: Record<string, JsonSchema>;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
}

interface Field {
  at: string[];
  schema: JsonSchema;
}

/** The fields of the schema, including those in objects of the body. Of alternatives, only the matching one. */
export function fieldsOf(
  schema: JsonSchema,
  body: Readonly<Record<string, unknown>>,
  fits: (branch: JsonSchema) => boolean,
): Field[] {
  const { properties = {}, oneOf = [], anyOf = [], allOf = [] } = schema as Facts;
  const chosen = [...oneOf, ...anyOf].filter((branch) => (branch as Facts).properties).find(fits);
  const own = Object.entries(properties).flatMap(([name, each]): Field[] => {
    const value = body[name];
    if (!(each as Facts).properties || typeof value !== 'object' || value === null)
      return [{ at: [name], schema: each }];
    const inner = fieldsOf(each, value as Record<string, unknown>, () => false);
    return inner.map(({ at, schema: of }) => ({ at: [name, ...at], schema: of }));
  });
  return [...own, ...[...allOf, ...(chosen ? [chosen] : [])].flatMap((each) => fieldsOf(each, body, fits))];
}

/** Whether the schema mentions the field. */
export function namesField(schema: JsonSchema | undefined, [name = '', ...rest]: readonly string[]): boolean {
  const { properties = {}, oneOf = [], anyOf = [], allOf = [] } = (schema ?? {}) as Facts;
  const own = properties[name];
  if (own !== undefined && (rest.length === 0 || namesField(own, rest))) return true;
  return [...oneOf, ...anyOf, ...allOf].some((each) => namesField(each, [name, ...rest]));
}
