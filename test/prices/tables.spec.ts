import { describe, expect, it } from '@jest/globals';
import { type JsonSchema, loadCatalog, type Model } from '#catalog';
import { pointerSegments } from '#schemas';
import { everyPrice } from './every-price.js';

const { models } = await loadCatalog();

/** The schemas of a field in every branch; empty if no schema names the field. */
function fieldsAt(schema: JsonSchema, [name, ...rest]: readonly string[]): JsonSchema[] {
  const branches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  if (name === undefined) return branches.length > 0 ? branches : [schema];
  const here = name === '*' ? schema.items : schema.properties?.[name];
  return [
    ...(here ? fieldsAt(here, rest) : []),
    ...branches.flatMap((branch) => fieldsAt(branch, [name, ...rest])),
  ];
}

/** Whether the schema lists the values of a field, so that no other value reaches the price. */
function isListed({ input }: Model, place: string): boolean {
  const fields = fieldsAt(input, pointerSegments(place));
  return fields.length > 0 && fields.every((field) => field.enum !== undefined || field.const !== undefined);
}

/** The tables of a model whose default value is cheaper than a named one. */
const cheapDefaults = (model: Model): string[] =>
  [model.price, ...model.price.plus, ...model.price.reported]
    .flatMap(({ times }) => times)
    .flatMap((factor) => {
      if (!('table' in factor)) return [];
      const { '*': other, ...named } = factor.values;
      const dearest = Math.max(...Object.values(named));
      if (other === undefined || other >= dearest) return [];
      const isSafe = [factor.table, ...factor.alternatives].every((place) => isListed(model, place));
      return isSafe ? [] : [`${factor.table}: * is ${other}, below ${dearest}`];
    });

describe('a value that is missing from a table', () => {
  it.each(everyPrice(models))('%s: is not cheaper than a named one', (_, model) => {
    expect(cheapDefaults(model)).toEqual([]);
  });
});
