import { camelName, pointerSegments } from '#schemas';
import type { JsonSchema } from './json-schema.js';
import { type Model, oncePerModel } from './model.js';
import { pricePointers } from './price.js';

/**
 * The parsed input under the names that the row uses. Only where the provider takes both spellings of a name is it
 * another object: `file_data` is then read as `fileData`. A name stays where the row's own spelling stands beside it.
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

/** A name as the row spells it, else as it is given. */
export const nameOfRow = (model: Model, name: string): string =>
  model.takesBothSpellings ? (namesOfRow(model).get(camelName(name)) ?? name) : name;

/** The place in the caller's own spelling of a value at `path` of the input as the row spells it. */
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

/** The names of the row's schema and price, by their camel case. */
const namesOfRow = oncePerModel(({ input, price }): ReadonlyMap<string, string> => {
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
