import * as fc from 'fast-check';
import type { JsonSchema } from '../json-schema.js';

type Facts = Record<string, unknown> & {
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  required?: string[];
};

const factsOf = (schema: JsonSchema): Facts => (typeof schema === 'object' ? (schema as Facts) : {});
const listOf = (facts: Facts, word: string): JsonSchema[] => (facts[word] as JsonSchema[] | undefined) ?? [];
const numberOf = (facts: Facts, word: string, otherwise: number): number =>
  (facts[word] as number | undefined) ?? otherwise;

/** Values that the schema most likely accepts. Other keywords than these are ignored. */
export function valid(schema: JsonSchema): fc.Arbitrary<unknown> {
  const facts = factsOf(schema);
  if ('const' in facts) return fc.constant(facts['const']);
  if (Array.isArray(facts['enum'])) return fc.constantFrom(...(facts['enum'] as unknown[]));
  const choices = [...listOf(facts, 'anyOf'), ...listOf(facts, 'oneOf')];
  if (choices.length > 0) return fc.oneof(...choices.map(valid));
  if (facts['allOf']) return valid(Object.assign({}, ...listOf(facts, 'allOf')) as JsonSchema);
  switch (facts['type']) {
    case 'string':
      return textOf(facts);
    case 'integer':
      return fc.integer(rangeOf(facts, 1));
    case 'number':
      return fc.oneof(
        ...['min', 'max'].map((end) => fc.constant(rangeOf(facts, 0.25)[end as 'min' | 'max'])),
      );
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const minLength = numberOf(facts, 'minItems', 1);
      const maxLength = Math.min(numberOf(facts, 'maxItems', minLength + 1), minLength + 1);
      return fc.array(valid(facts.items ?? {}), { minLength, maxLength });
    }
    case 'object':
      return objectOf(facts);
    default:
      return facts.properties ? objectOf(facts) : fc.constant('a text');
  }
}

function objectOf({ properties = {}, required = [] }: Facts): fc.Arbitrary<unknown> {
  const members = Object.entries(properties).filter(([name]) => required.includes(name));
  return fc.record(Object.fromEntries(members.map(([name, each]) => [name, valid(each)])));
}

function textOf(facts: Facts): fc.Arbitrary<string> {
  if (typeof facts['pattern'] === 'string') return fc.stringMatching(new RegExp(facts['pattern']));
  const shortest = numberOf(facts, 'minLength', 1);
  const longest = numberOf(facts, 'maxLength', shortest + 20);
  return fc.constantFrom(shortest, longest).map((length) => 'x'.repeat(Math.min(length, 20_000)));
}

function rangeOf(facts: Facts, step: number): { min: number; max: number } {
  const least = numberOf(facts, 'minimum', numberOf(facts, 'exclusiveMinimum', -step) + step);
  const most = numberOf(
    facts,
    'maximum',
    numberOf(facts, 'exclusiveMaximum', Math.max(least, 0) + 100) - step,
  );
  return { min: least, max: Math.max(least, most) };
}

/** Values that each violate one constraint of the schema. */
export function breaking(schema: JsonSchema): unknown[] {
  const facts = factsOf(schema);
  if (Array.isArray(facts['enum']) || 'const' in facts) return ['not one of them'];
  const choices = [...listOf(facts, 'anyOf'), ...listOf(facts, 'oneOf')];
  const [only, ...others] = choices.filter((each) => factsOf(each)['type'] !== 'null');
  if (only !== undefined) return others.length === 0 ? breaking(only) : [];
  const of = (word: string): number => numberOf(facts, word, Number.NaN);
  const { type, items = {} } = facts;
  const longest = Math.min(of('maxLength'), 50_000);
  const candidates: [limit: number, value: (limit: number) => unknown][] = [
    [typeof type === 'string' ? 0 : Number.NaN, () => (type === 'string' ? 7 : 'a text')],
    [of('minimum'), (limit) => limit - 1],
    [of('maximum'), (limit) => limit + 1],
    [of('minLength'), (limit) => 'x'.repeat(Math.max(limit - 1, 0))],
    [longest, (limit) => 'x'.repeat(limit + 1)],
    [of('minItems'), () => []],
    [of('maxItems'), (limit) => fc.sample(valid(items), { numRuns: limit + 1, seed: 1 })],
  ];
  return candidates.filter(([limit]) => !Number.isNaN(limit)).map(([limit, value]) => value(limit));
}
