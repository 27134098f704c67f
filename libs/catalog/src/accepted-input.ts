import { pointerSegments } from '#schemas';
import type { JsonSchema } from './json-schema.js';
import type { ConstantValue } from './model-row.js';

/**
 * The schema with which calls are checked and that documents show: the row's schema, or any object. Members that
 * name the model accept only their own values, and fields that would make the provider call or store elsewhere are
 * rejected.
 */
export function acceptedInput(
  authored: JsonSchema | undefined,
  refusedPointers: readonly string[],
  constants: Readonly<Record<string, ConstantValue>> = {},
): JsonSchema {
  const input = authored ?? { type: 'object', additionalProperties: true };
  const members = Object.entries(constants).map(([name, value]): [string, JsonSchema] => {
    const { description } = input.properties?.[name] ?? {};
    return [
      name,
      {
        description: description ?? 'The name of the model at the provider. The router adds it.',
        const: value,
      },
    ];
  });
  const accepted: JsonSchema = {
    ...input,
    properties: Object.fromEntries([
      ...members,
      ...Object.entries(input.properties ?? {}).filter(([name]) => !Object.hasOwn(constants, name)),
    ]),
    patternProperties: { [patternOf(callbackField)]: nothing },
  };
  return refusedPointers.map(pointerSegments).reduce(refusing, accepted);
}

/** The router itself polls for results and copies them, so it rejects fields that deliver results elsewhere. */
export const callbackField = /web_?hook|call_?back|notify|pub_?sub|storage_?ur[il]/i;

/** An empty value has no effect, and occurs in providers' examples. */
const nothing: JsonSchema = {
  description: 'Rejected unless null, false or empty, because the router itself delivers results.',
  not: { not: { enum: [null, false, '', [], {}] } },
};

/** Patterns in JSON Schema have no flags, so case is ignored by character classes. */
const patternOf = ({ source }: RegExp): string =>
  source.replaceAll(/\[(\w+)\]|[a-z]/g, (one, several: string | undefined) => {
    const letters = several ?? one;
    return `[${letters}${letters.toUpperCase()}]`;
  });

/** Equal for names that a case-insensitive parser considers equal, including the long s and the Kelvin sign. */
export const anyCase = (name: string): string => name.toLowerCase().toUpperCase();

function refusing(schema: JsonSchema, [name, ...deeper]: readonly string[]): JsonSchema {
  if (name === undefined) return nothing;
  if (name === '*') return { ...schema, items: refusing(schema.items ?? {}, deeper) };
  const { properties = {} } = schema;
  const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return { ...schema, properties: { ...properties, [name]: refusing(known ?? {}, deeper) } };
}
