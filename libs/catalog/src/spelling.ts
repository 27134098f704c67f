import { camelName, pointerSegments } from '#schemas';
import type { JsonSchema } from './json-schema.js';
import { type Model, oncePerSchema } from './model.js';
import { pricePointers } from './price.js';

/**
 * The parsed input with the spellings of the row. If the provider accepts both spellings of a name, it returns a
 * copy in which, for example, `file_data` becomes `fileData`. A name stays unchanged if the row's spelling is also
 * present.
 */
export const asSpelledByRow = <Input>(model: Model, input: Input): Input =>
  model.takesBothSpellings ? (renamed(input, namesOfRow(model)) as Input) : input;

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((element) => renamed(element, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const known = names.get(camelName(name)) ?? name;
      return [Object.hasOwn(value, known) ? name : known, renamed(member, names)];
    }),
  );
}

/** The row's spelling of a name, or the name itself. */
export const nameOfRow = (model: Model, name: string): string =>
  model.takesBothSpellings ? (namesOfRow(model).get(camelName(name)) ?? name) : name;

/** Translates a path in the row's spelling into the caller's spelling. */
export function asSpelledByCaller(
  { takesBothSpellings }: Model,
  input: unknown,
  path: readonly (string | number)[],
): (string | number)[] {
  if (!takesBothSpellings) return [...path];
  let value = input;
  return path.map((segment) => {
    const around = Object(value) as Record<string, unknown>;
    const isOwn = typeof segment === 'number' || Object.hasOwn(around, segment);
    const given = isOwn
      ? segment
      : (Object.keys(around).find((name) => camelName(name) === camelName(segment)) ?? segment);
    value = around[given];
    return given;
  });
}

/** The names in the row's schema and price, by their camel case. */
const namesOfRow = oncePerSchema(({ input, price }): ReadonlyMap<string, string> => {
  const names = new Set(pricePointers(price).flatMap(pointerSegments));
  const read = (schema: JsonSchema): void => {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      names.add(name);
      read(property);
    }
    const { items, allOf = [], anyOf = [], oneOf = [] } = schema;
    for (const part of [items ?? [], allOf, anyOf, oneOf].flat()) read(part);
  };
  read(input);
  return new Map([...names].map((name) => [camelName(name), name]));
});
