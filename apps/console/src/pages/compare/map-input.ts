import type { Input, ModelDocument, Schema } from '../../api/model-document.ts';
import { promptOf } from '../../api/prompt-of.ts';
import { kindOfUrl, type MediaKind } from '../../parts/media.ts';
import { constantsOf, fileKindOf } from '../model/form/form-schema.ts';
import { fieldTaking } from '../model/takes.ts';
import { isSpecialFile, namesFor, promptNames, ratioNames, sizeNames } from './field-roles.ts';
import { fitting } from './fitting.ts';

type Path = readonly (string | number)[];

interface Field {
  name: string;
  path: Path;
  schema: Schema;
}

type Terms = Pick<ModelDocument, 'input' | 'example'>;

interface Mapped {
  input: Input;
  /** The fields of the first model that the other one doesn't take, such as `parameters.seed`. */
  unsent: string[];
}

/**
 * An input of one model as another model takes it. Each value goes into the field with the same role, in its notation.
 * Nothing is added that the first input doesn't hold.
 */
export function mapInput(input: Input, from: Terms, to: Terms): Mapped {
  const target = new Target(to);
  const unsent: string[] = [];
  const values = valuesOf(input, from);
  const size = sizeIn(values);
  for (const { name, path, schema, value } of values) {
    const isSent =
      target.put(name, path, value) ||
      target.putPrompt(name, value) ||
      (size?.names.includes(name) === true && target.putSize(size)) ||
      target.putFiles(name, schema, value);
    if (!isSent) unsent.push(path.join('.'));
  }
  return { input: target.input, unsent };
}

class Target {
  readonly input: Input = {};
  private readonly fields: readonly Field[];
  private hasSize = false;

  constructor(private readonly terms: Terms) {
    this.fields = fieldsOf(terms.input);
  }

  /** Prefers the same place in the other model. */
  put(name: string, path: Path, value: unknown): boolean {
    const same = this.fields.find((field) => field.path.join('.') === path.join('.'));
    const fit = same && namesFor(name).length > 0 ? fitting(same.schema, value) : undefined;
    if (same !== undefined && fit !== undefined && at(this.input, path) === undefined) {
      set(this.input, path, fit);
      return true;
    }
    return namesFor(name).some((each) => this.putInto(each, value));
  }

  putPrompt(name: string, value: unknown): boolean {
    const text = promptOf({ [name]: value });
    // One of several messages would say something else on its own.
    if (text === undefined || (Array.isArray(value) && value.length > 1)) return false;
    if (promptNames.some((each) => this.putInto(each, text))) return true;
    // The example shows where the text of a message goes.
    const { example } = this.terms;
    const field = Object.keys(example).find((each) => promptOf({ [each]: example[each] }) !== undefined);
    if (field === undefined || this.input[field] !== undefined) return false;
    this.input[field] = withText(example[field], text);
    return true;
  }

  /** Width and height, one size, or their ratio. */
  putSize({ width, height }: Size): boolean {
    if (this.hasSize) return true;
    const divisor = greatestDivisor(width, height);
    const ratio = `${width / divisor}:${height / divisor}`;
    this.hasSize =
      (this.takes('width', width) &&
        this.takes('height', height) &&
        this.putInto('width', width) &&
        this.putInto('height', height)) ||
      sizeNames.some((each) => this.putInto(each, `${width}x${height}`)) ||
      ratioNames.some((each) => this.putInto(each, ratio));
    return this.hasSize;
  }

  /** A file goes into the field that takes its kind. False unless all files are sent. */
  putFiles(name: string, schema: Schema, value: unknown): boolean {
    const urls = [value].flat();
    if (isSpecialFile(name) || urls.length === 0 || !urls.every(isFile)) return false;
    const taking = fieldTaking(this.terms, kindOfFile(name, schema, urls[0] ?? ''));
    if (taking === undefined) return false;
    const filled = urls.map(taking.valueWith);
    const whole = filled.length === 1 ? filled[0] : filled.every(Array.isArray) ? filled.flat() : undefined;
    const merged = whole === undefined ? undefined : mergedWith(this.input[taking.field], whole);
    if (merged === undefined) return false;
    this.input[taking.field] = merged;
    return true;
  }

  private takes(name: string, value: unknown): boolean {
    return this.fields.some((field) => field.name === name && fitting(field.schema, value) !== undefined);
  }

  private putInto(name: string, value: unknown): boolean {
    for (const { path, schema } of this.fields.filter((field) => field.name === name)) {
      const fit = fitting(schema, value);
      if (fit === undefined || at(this.input, path) !== undefined) continue;
      set(this.input, path, fit);
      return true;
    }
    return false;
  }
}

/** Some vendors wrap the fields of one request in the first element of a list. */
const wrappers = new Set(['instances', 'inputs']);

/** The fields of the input, then those of its members, without the ones that name the model. */
function fieldsOf(schema: Schema): Field[] {
  const own = membersOf(schema, []);
  const inner = own.flatMap(({ name, path, schema: member }) =>
    wrappers.has(name) && member.items !== undefined
      ? membersOf(member.items, [...path, 0])
      : membersOf(member, path),
  );
  return [...own, ...inner];
}

const membersOf = (schema: Schema, path: Path): Field[] =>
  [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(({ properties = {} }) =>
    Object.entries(properties)
      .filter(([, member]) => member.const === undefined && member.not === undefined)
      .map(([name, member]) => ({ name, path: [...path, name], schema: member })),
  );

interface Value extends Field {
  value: unknown;
}

/** The values of an input. A member that only groups fields counts as those fields. */
function valuesOf(input: Input, { input: schema }: Terms): Value[] {
  const constants = constantsOf(schema);
  const fields = fieldsOf(schema);
  const fieldAt = (path: Path) => fields.find((field) => field.path.join('.') === path.join('.'));
  return Object.entries(input)
    .filter(([name, value]) => value !== undefined && !constants.includes(name))
    .flatMap(([name, value]) => {
      const start = wrappers.has(name) ? [name, 0] : [name];
      const group: unknown =
        wrappers.has(name) && Array.isArray(value) && value.length === 1 ? value[0] : value;
      const inner = Object.entries(Object(isPlain(group) ? group : {}) as Input).map(([each, part]) => {
        const field = fieldAt([...start, each]);
        return field && { ...field, value: part };
      });
      if (inner.length > 0 && !inner.includes(undefined)) return inner.filter((each) => each !== undefined);
      return [{ ...(fieldAt([name]) ?? { name, path: [name], schema: {} }), value }];
    });
}

interface Size {
  width: number;
  height: number;
  /** The fields that hold it. */
  names: readonly string[];
}

function sizeIn(values: readonly Value[]): Size | undefined {
  const named = (name: string) => values.find((each) => each.name === name)?.value;
  const [width, height] = [named('width'), named('height')];
  if (typeof width === 'number' && typeof height === 'number' && width > 0 && height > 0)
    return { width, height, names: ['width', 'height'] };
  for (const name of sizeNames) {
    const pair = /^([1-9]\d*)[x*]([1-9]\d*)$/.exec(String(named(name)));
    if (pair !== null) return { width: Number(pair[1]), height: Number(pair[2]), names: [name] };
  }
  return undefined;
}

const greatestDivisor = (one: number, other: number): number =>
  other === 0 ? one : greatestDivisor(other, one % other);

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isFile = (value: unknown): value is string =>
  typeof value === 'string' && /^(https?|data):/.test(value);

function kindOfFile(name: string, schema: Schema, url: string): MediaKind {
  const declared = fileKindOf(name, schema);
  const told = /^data:(image|video|audio)\//.exec(url)?.[1] as MediaKind | undefined;
  return kindOfUrl(url) ?? told ?? (declared === undefined || declared === 'any' ? 'image' : declared);
}

/** The value with its prompt replaced, and without anything else that the example says. */
function withText(example: unknown, text: string): unknown {
  if (typeof example === 'string') return text;
  if (Array.isArray(example)) {
    const holder: unknown = example.toReversed().find((each) => promptOf(each) !== undefined);
    return [withText(holder, text)];
  }
  const members = Object.entries(Object(example) as Input);
  const holder = members.find(([name, value]) => promptOf({ [name]: value }) !== undefined)?.[0];
  return Object.fromEntries(
    members
      .filter(([name]) => name === holder || name === 'role' || name === 'type')
      .map(([name, value]) => [name, name === holder ? withText(value, text) : value]),
  );
}

/** Both values in one, or undefined if they contradict each other. */
function mergedWith(one: unknown, other: unknown): unknown {
  if (one === undefined) return other;
  if (Array.isArray(one) && Array.isArray(other) && one.length === 1 && other.length === 1) {
    const only = mergedWith(one[0], other[0]);
    return only === undefined ? undefined : [only];
  }
  if (!isPlain(one) || !isPlain(other)) return undefined;
  const merged: Input = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const part = mergedWith(merged[name], value);
    if (part === undefined) return undefined;
    merged[name] = part;
  }
  return merged;
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((part, step) => (Object(part) as Input)[step], value);

function set(target: Input, path: Path, value: unknown): void {
  let place = target as Record<string | number, unknown>;
  for (const [index, step] of path.slice(0, -1).entries())
    place = (place[step] ??= typeof path[index + 1] === 'number' ? [] : {}) as typeof place;
  place[path.at(-1) ?? ''] = value;
}
