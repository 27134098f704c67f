import type { Input, ModelDocument, Schema } from '../../api/model-document.ts';
import { kindOfUrl, type MediaKind } from '../../parts/media.ts';
import { type FileKind, fileKindOf, inputSchema } from './form/form-schema.ts';

/** A top-level field, and its value with a file in it. */
export interface Taking {
  field: string;
  valueWith: (url: string) => unknown;
}

const maxDepth = 5;

/** The field that takes a file of this kind, at any depth. Required fields come first, and masks last. */
export function fieldTaking(
  { input, example }: Pick<ModelDocument, 'input' | 'example'>,
  kind: MediaKind,
): Taking | undefined {
  const { properties = {}, required = [] } = inputSchema(input);
  const rank = (name: string) =>
    Number(!hasFile(example[name], kind)) * 4 +
    Number(/mask/i.test(name)) * 2 +
    Number(!required.includes(name));
  const names = Object.keys(properties).sort((one, other) => rank(one) - rank(other));
  for (const wanted of [kind, 'any'] as const) {
    for (const field of names) {
      const search = { kind, wanted, example: example[field], depth: 0 };
      const valueWith = taking(properties[field] ?? {}, field, search);
      if (valueWith !== undefined) return { field, valueWith };
    }
  }
  return undefined;
}

/** The input with the file in its field. */
export const withFile = (input: Input, { field, valueWith }: Taking, url: string): Input => ({
  ...input,
  [field]: valueWith(url),
});

interface Search {
  kind: MediaKind;
  /** The kind that the field must name. */
  wanted: FileKind;
  /** The value at this place in the model's example. */
  example: unknown;
  depth: number;
}

function taking(schema: Schema, name: string, search: Search): Taking['valueWith'] | undefined {
  const { depth, example } = search;
  if (depth > maxDepth) return undefined;
  const { description, items, properties = {}, anyOf = [], oneOf = [], allOf = [] } = schema;
  const within = (part: Schema, named: string, at: unknown) =>
    taking({ description, ...part }, named, { ...search, example: at, depth: depth + 1 });
  if (schema.type === 'string') {
    const isWanted = fileKindOf(name, schema) === search.wanted || hasFile(example, search.kind);
    return isWanted ? (url) => url : undefined;
  }
  if (items !== undefined) {
    const one = within(items, name, Array.isArray(example) ? example[0] : undefined);
    if (one !== undefined) return (url) => [one(url)];
  }
  const members = Object.entries(properties).sort(
    ([one], [other]) =>
      Number(hasFile(memberOf(example, other), search.kind)) -
      Number(hasFile(memberOf(example, one), search.kind)),
  );
  for (const [member, part] of members) {
    // `{video: {url}}` takes a video.
    const named = /^ur[li]$/i.test(member) ? `${name}_${member}` : member;
    const one = within(part, named, memberOf(example, member));
    if (one !== undefined) {
      return (url) => ({ ...saidBeside(schema, search, url), [member]: one(url) });
    }
  }
  for (const branch of [...anyOf, ...oneOf, ...allOf]) {
    const one = within(branch, name, example);
    if (one !== undefined) return one;
  }
  return undefined;
}

/** Whether the example has a file of this kind at this place or below it. */
function hasFile(example: unknown, kind: MediaKind): boolean {
  if (typeof example === 'string') return /^https?:/.test(example) && kindOfUrl(example) === kind;
  return Object.values(Object(example) as object).some((each) => hasFile(each, kind));
}

const memberOf = (value: unknown, name: string): unknown => (Object(value) as Input)[name];

/** The members that say what a file beside them is, such as `type: first_frame`. */
function saidBeside(
  { properties = {}, required = [] }: Schema,
  { kind, example }: Search,
  url: string,
): Input {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { const: fixed, enum: choices }]) => {
      if (fixed !== undefined) return [[name, fixed]];
      if (choices === undefined || !(required.includes(name) || /^type$/i.test(name))) return [];
      const ofFile = choices.find(
        (each) => each === kind || url.toLowerCase().endsWith(`.${String(each).toLowerCase()}`),
      );
      return [[name, ofFile ?? memberOf(example, name) ?? choices[0]]];
    }),
  );
}
