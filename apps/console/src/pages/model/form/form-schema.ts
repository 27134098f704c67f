import type { Input, Schema } from '../../../api/model-document.ts';

/**
 * The schema of the input as the form shows it. Members that name the model are left out, because the router adds
 * them. Texts and numbers of the example become placeholders of fields that have no default.
 */
export function inputSchema(schema: Schema, example: Input = {}): Schema {
  const { properties = {}, required = [], ...rest } = formSchema(schema, example);
  const isShown = (name: string) => properties[name]?.const === undefined;
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name))),
    required: required.filter(isShown),
  };
}

/** The members of the input that name the model. */
export const constantsOf = ({ properties = {} }: Schema): string[] =>
  Object.keys(properties).filter((name) => properties[name]?.const !== undefined);

/**
 * The schema as the form shows it: nullable fields have their non-null type, and choices have names. Fields that the
 * router rejects or merely tolerates are left to the JSON view.
 */
export function formSchema(schema: Schema, example?: unknown): Schema {
  const {
    patternProperties: _refused,
    additionalProperties: _open,
    not: _not,
    default: shown,
    'x-service-known-values': known,
    ...rest
  } = collapsed(schema);
  return {
    ...rest,
    // Picking is easier than typing. Other values are left to the JSON view.
    ...(known && { enum: known.filter((value) => value !== null) }),
    // Any JSON is most likely a text. Other values are left to the JSON view.
    ...(isUntyped(rest) && { type: 'string' }),
    // The form would fill in a container's default piece by piece.
    ...(shown !== undefined && shown !== null && typeof shown !== 'object' && { default: shown }),
    ...(isPlaceholder(example) && { examples: [example] }),
    ...(rest.properties && { properties: mapped(rest.properties, example) }),
    ...(rest.items && { items: formSchema(rest.items, Array.isArray(example) ? example[0] : undefined) }),
    ...(rest.anyOf && { anyOf: named(rest.anyOf) }),
    ...(rest.oneOf && { oneOf: named(rest.oneOf) }),
    ...(rest.allOf && { allOf: rest.allOf.map((each) => formSchema(each, example)) }),
  };
}

const kinds = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'properties', 'items'] as const;
const isUntyped = (schema: Schema): boolean => kinds.every((each) => schema[each] === undefined);

const isPlaceholder = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

const mapped = (properties: Record<string, Schema>, example: unknown) =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, { not }]) => not === undefined)
      .map(([name, property]) => [name, formSchema(property, (Object(example) as Input)[name])]),
  );

/** `anyOf [x, null]` and `type: [x, null]` are x. */
function collapsed(schema: Schema): Schema {
  const choices = schema.anyOf ?? schema.oneOf;
  const some = choices?.filter(({ type }) => type !== 'null');
  if (some?.length === 1 && choices !== undefined) {
    const { anyOf: _any, oneOf: _one, ...rest } = schema;
    return collapsed({ ...some[0], ...rest });
  }
  if (some !== undefined && some.length < (choices ?? []).length) {
    return { ...schema, ...(schema.anyOf ? { anyOf: some } : { oneOf: some }) };
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== 'null');
    return { ...schema, type: types.length === 1 ? types[0] : types };
  }
  return schema;
}

/** A list of values comes first, because the form starts with the first choice and picking is easier than typing. */
const named = (choices: Schema[]): Schema[] =>
  choices
    .map((choice) => ({ ...formSchema(choice), title: choice.title ?? choiceName(choice) }))
    .toSorted((one, other) => Number(other.enum !== undefined) - Number(one.enum !== undefined));

function choiceName(choice: Schema): string {
  const fixed = Object.entries(choice.properties ?? {}).find(([, { const: value }]) => value !== undefined);
  if (fixed !== undefined) return String(fixed[1].const);
  if (choice.enum !== undefined) return choice.enum.map(String).slice(0, 3).join(', ');
  if (choice.type === 'array') return `List of ${choiceName(choice.items ?? {})}`;
  const members = Object.keys(choice.properties ?? {});
  if (members.length > 0) return members.slice(0, 3).map(labelOf).join(', ');
  return choice.type === 'string' ? 'Text' : String(choice.type ?? 'Other');
}

/** A field's name as a label: `guidance_scale` and `guidanceScale` become "Guidance scale". */
export function labelOf(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
  const known = words.replaceAll(
    /\b(url|uri|id|lora|svg|cfg|api)(s?)\b/g,
    (_, word: string, end: string) => word.toUpperCase() + end,
  );
  return known.charAt(0).toUpperCase() + known.slice(1);
}

export type FileKind = 'image' | 'video' | 'audio' | '3d' | 'any';

/** Guesses from a string field's name and description whether it takes the URL of a file, and of which kind. */
export function fileKindOf(
  name: string,
  { description = '', format, enum: choices, maxLength, pattern }: Schema,
): FileKind | undefined {
  if (choices !== undefined || (maxLength !== undefined && maxLength < 100)) return undefined;
  const words = labelOf(name).toLowerCase();
  const isOther =
    /\b(id|type|size|name|format|token|mode|style|prompt|text|quality|resolution|ratio|count)$/.test(words);
  const takesLinks = pattern?.startsWith('^(https?|data):') === true;
  if (isOther && !takesLinks && words !== 'image prompt') return undefined;
  const isUrl =
    format === 'uri' ||
    // Nobody writes an image as a text.
    /\b(images?|videos?|mask)$/.test(words) ||
    /\b(url|uri|base64|data ur[li]|upload(ed)?)s?\b/i.test(`${words} ${description}`);
  const named =
    /\b(image|img|mask|frame|keyframe|background|photo|picture|video|audio|sound|voice|music|mesh|model|file)s?\b/.exec(
      words,
    )?.[1];
  const saysFile =
    named !== undefined ||
    format === 'uri' ||
    takesLinks ||
    /^(url|uri|source|input|reference)/.test(words) ||
    /^(image|video|audio) of/i.test(description);
  if (!isUrl || !saysFile) return undefined;
  if (/callback|webhook|link/.test(words)) return undefined;
  const text = named === undefined || named === 'file' ? `${words} ${description.toLowerCase()}` : named;
  if (/video/.test(text) && /audio/.test(text)) return 'any';
  if (/video/.test(text)) return 'video';
  if (/audio|sound|voice|music|speech/.test(text)) return 'audio';
  if (/mesh|model|3d|glb/.test(text)) return '3d';
  if (/image|img|mask|frame|background|photo|picture/.test(text)) return 'image';
  return 'any';
}

/** A field that takes files in a list. */
export interface FileList {
  kind: FileKind;
  /** Numbers of files. */
  min: number | undefined;
  max: number | undefined;
  /** Whether one file may also stand alone. */
  takesOne: boolean;
}

/** The terms of a list of files, or of a choice between one file and a list. */
export function fileListOf(name: string, schema: Schema): FileList | undefined {
  const choices = schema.anyOf ?? schema.oneOf ?? [];
  const list = choices.length === 2 ? choices.find(({ type }) => type === 'array') : schema;
  const takesOne = list !== schema;
  if (takesOne && !choices.some(({ type, enum: fixed }) => type === 'string' && fixed === undefined))
    return undefined;
  if (list?.type !== 'array' || list.items?.type !== 'string') return undefined;
  const { description = list.description ?? list.items.description } = schema;
  const kind = fileKindOf(name, { ...list.items, ...(description !== undefined && { description }) });
  return kind && { kind, min: list.minItems, max: list.maxItems, takesOne };
}
