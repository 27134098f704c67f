import type { Json } from '#schemas';

const placeholder = /\{([a-z][a-z0-9_.]*)\}/gi;

export const ofInput = 'input.';

/** The names of the input's fields that are part of an address: `{input.<name>}`. */
export const inputNamesIn = (template: string): string[] =>
  namesIn(template).flatMap((name) => (name.startsWith(ofInput) ? [name.slice(ofInput.length)] : []));

/** The names between braces, in order. */
export const namesIn = (template: string): string[] =>
  [...template.matchAll(placeholder)].map(([, name = '']) => name);

type Values = (name: string) => string | undefined;

/** The template with its values filled in; undefined if one is missing. */
export function filled(template: string, values: Values): string | undefined {
  let missing = false;
  const text = template.replaceAll(placeholder, (_, name: string) => {
    if (missing) return '';
    const value = values(name);
    missing ||= value === undefined;
    return value ?? '';
  });
  return missing ? undefined : text;
}

/** Fills in a JSON value whose texts are templates. A text with a missing value becomes empty. */
export function filledJson(template: Json, values: Values): Json {
  if (typeof template === 'string') return filled(template, values) ?? '';
  if (typeof template !== 'object' || template === null) return template;
  if (Array.isArray(template)) return template.map((element) => filledJson(element, values));
  return Object.fromEntries(
    Object.entries(template).map(([name, member]) => [name, filledJson(member, values)]),
  );
}
