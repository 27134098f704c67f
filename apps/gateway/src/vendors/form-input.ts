import type { JsonSchema } from '#catalog';
import { InputRejection } from '#errors';

/** A field of a form: its name as the form has it, and its text or the URL of its file. */
interface FormField {
  name: string;
  value: string;
}

/** The values of one member: of a single field, of list elements (`image[]`), or of an object (`strategy[type]`). */
type Values = { key: string | undefined; value: string }[];

/**
 * The JSON object that a form stands for. A form has only texts, so the schema says which of them are numbers, booleans,
 * lists or objects; what does not fit stays a text, which the schema then rejects. Numbers keep their digits. Throws a
 * 422 for a name with two pairs of brackets.
 */
export function inputOfForm(fields: readonly FormField[], schema: JsonSchema): Buffer {
  const members = new Map<string, Values>();
  for (const { name: given, value } of fields) {
    const { name, key } = partsOfName(given);
    members.set(name, [...(members.get(name) ?? []), { key, value }]);
  }
  const json = [...members].map(
    ([name, values]) => `${JSON.stringify(name)}:${memberJson(values, propertyOf(schema, name))}`,
  );
  return Buffer.from(`{${json.join(',')}}`);
}

const named = /^([^[\]]+)(?:\[([^[\]]*)\])?$/;

/** The name of the member, and what the brackets after it contain. */
function partsOfName(given: string): { name: string; key: string | undefined } {
  const [, name, key] = named.exec(given) ?? [];
  if (name !== undefined) return { name, key };
  const msg = 'A form cannot have nested objects';
  throw new InputRejection([{ loc: ['body', given], msg, type: 'value_error' }]);
}

function memberJson(values: Values, schemas: readonly JsonSchema[]): string {
  const [first, ...others] = values;
  if (first === undefined) return 'null';
  if (values.every(({ key }) => key !== undefined && key !== '')) {
    const json = values.map(({ key = '', value }) => {
      const properties = schemas.flatMap((schema) => propertyOf(schema, key));
      return `${JSON.stringify(key)}:${valueJson(value, properties)}`;
    });
    return `{${json.join(',')}}`;
  }
  if (first.key === undefined && others.length === 0) return valueJson(first.value, schemas);
  const elements = schemas.flatMap(({ items }) => (items ? branchesOf(items) : []));
  return `[${values.map(({ value }) => valueJson(value, elements)).join(',')}]`;
}

/** The text as the first kind of value that the schemas accept. Without a schema it is a text. */
function valueJson(text: string, schemas: readonly JsonSchema[]): string {
  const kinds = new Set(schemas.flatMap(kindsOf));
  const isWanted =
    !kinds.has('string') &&
    ((kinds.has('number') && number.test(text)) ||
      (kinds.has('boolean') && /^(true|false)$/.test(text)) ||
      ((kinds.has('object') || kinds.has('array')) && isContainer(text)));
  return isWanted ? text : JSON.stringify(text);
}

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** The kinds of JSON values that a schema names, in its type or in its values. */
function kindsOf({ type, enum: values = [], const: only }: JsonSchema): string[] {
  if (type !== undefined) return [type === 'integer' ? 'number' : type];
  return [...values, ...(only === undefined ? [] : [only])].map((value) => typeof value);
}

function isContainer(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

const propertyOf = (schema: JsonSchema, name: string): JsonSchema[] => {
  const { properties = {} } = schema;
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return property ? branchesOf(property) : [];
};

const branchesOf = (schema: JsonSchema): JsonSchema[] => [
  schema,
  ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((branches = []) => branches.flatMap(branchesOf)),
];
