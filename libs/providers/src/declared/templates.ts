import type { Json } from '#schemas';

const placeholder = /\{([a-z][a-z0-9_.]*)\}/gi;

/** The names between braces, in their order. */
export const namesIn = (template: string): string[] =>
  [...template.matchAll(placeholder)].map(([, name = '']) => name);

type Values = (name: string) => string | undefined;

/** The template with its values; undefined when one of them is missing. */
export function filled(template: string, values: Values): string | undefined {
  let missing = false;
  const text = template.replaceAll(placeholder, (_, name: string) => {
    const value = values(name);
    missing ||= value === undefined;
    return value ?? '';
  });
  return missing ? undefined : text;
}

/** A JSON value whose texts are templates. A text that lacks a value stays empty. */
export function filledJson(template: Json, values: Values): Json {
  if (typeof template === 'string') return filled(template, values) ?? '';
  if (typeof template !== 'object' || template === null) return template;
  if (Array.isArray(template)) return template.map((element) => filledJson(element, values));
  return Object.fromEntries(
    Object.entries(template).map(([name, member]) => [name, filledJson(member, values)]),
  );
}

export function textsIn(template: Json): string[] {
  if (typeof template === 'string') return [template];
  return typeof template === 'object' && template !== null ? Object.values(template).flatMap(textsIn) : [];
}
