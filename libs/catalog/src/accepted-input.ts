import { pointerSegments } from '#schemas';
import type { JsonSchema } from './json-schema.js';
import type { ConstantValue } from './model-row.js';

/**
 * What calls are checked with and documents show: the authored schema, or any object; the members that name the model
 * with their own values only; nothing that would make the provider call or store elsewhere.
 */
export function acceptedInput(
  authored: JsonSchema | undefined,
  refusedPointers: readonly string[],
  constants: Readonly<Record<string, ConstantValue>> = {},
): JsonSchema {
  const input = authored ?? { type: 'object', additionalProperties: true };
  const members = Object.entries(constants).map(([name, value]): [string, JsonSchema] => {
    const { description } = input.properties?.[name] ?? {};
    return [name, { description: description ?? 'Names the model; the router adds it.', const: value }];
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

/** Results are polled for and copied by the router: whatever delivers them elsewhere would lose them. */
export const callbackField = /web_?hook|call_?back|notify|pub_?sub|storage_?ur[il]/i;

/** A value that names no address changes nothing, and providers' own examples hold it. */
const nothing: JsonSchema = {
  description: 'Refused unless null, false or empty: the router itself delivers results.',
  not: { not: { enum: [null, false, '', [], {}] } },
};

/** A pattern in JSON Schema has no flags. */
const patternOf = ({ source }: RegExp): string =>
  source.replaceAll(/\[(\w+)\]|[a-z]/g, (one, several: string | undefined) => {
    const letters = several ?? one;
    return `[${letters}${letters.toUpperCase()}]`;
  });

/** Equal for names that a parser which ignores case takes for one: that includes the long s and the Kelvin sign. */
export const anyCase = (name: string): string => name.toLowerCase().toUpperCase();

function refusing(schema: JsonSchema, [name, ...deeper]: readonly string[]): JsonSchema {
  if (name === undefined) return nothing;
  if (name === '*') return { ...schema, items: refusing(schema.items ?? {}, deeper) };
  const { properties = {} } = schema;
  const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return { ...schema, properties: { ...properties, [name]: refusing(known ?? {}, deeper) } };
}
