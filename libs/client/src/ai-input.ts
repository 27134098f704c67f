/** The part of a model's input schema that the mapping reads. */
export interface InputSchema {
  type?: string;
  description?: string;
  properties?: Record<string, InputSchema>;
  items?: InputSchema;
  anyOf?: InputSchema[];
  oneOf?: InputSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  maximum?: number;
}

interface Field {
  name: string;
  path: (string | number)[];
  schema: InputSchema;
}

/** Some vendors wrap the fields of one request in the first element of a list. */
const wrappers = new Set(['instances', 'inputs']);

/** Builds an input from options that many models have under different names and in different notations. */
export class InputBuilder {
  readonly input: Record<string, unknown> = {};
  private readonly fields: Field[];

  constructor(private readonly schema: InputSchema) {
    const own = fieldsOf(schema, []);
    // Fields of the input itself come before those of its members.
    this.fields = [...own, ...own.flatMap(membersOf)];
  }

  /**
   * Puts a value into the first field with one of these names. The notations are the same value as different vendors
   * write it; the one that the field takes is used. Returns whether a field takes one.
   */
  put(names: readonly string[], ...notations: unknown[]): boolean {
    for (const name of names)
      for (const field of this.fields.filter((each) => each.name === name)) {
        const fitting = fit(field.schema, notations);
        if (fitting === undefined) continue;
        set(this.input, field.path, fitting);
        return true;
      }
    return false;
  }

  /** The largest number that a field with one of these names takes, or undefined if there is none. */
  maximumOf(names: readonly string[]): number | undefined {
    const field = this.fields.find(({ name }) => names.includes(name));
    return field === undefined
      ? undefined
      : Math.max(...variantsOf(field.schema).map(({ maximum = 1 }) => maximum));
  }

  /** Adds a part to the list of a conversation-like input: text, or an image by URL. */
  addContent(part: { type: string } & Record<string, unknown>): boolean {
    const { content } = this.schema.properties ?? {};
    if (content === undefined || !variantsOf(content).some(({ type }) => type === 'array')) return false;
    this.input['content'] = [...((this.input['content'] as object[] | undefined) ?? []), part];
    return true;
  }
}

const variantsOf = (schema: InputSchema): InputSchema[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((variant) => ({
    ...(schema.default !== undefined && { default: schema.default }),
    ...(schema.description !== undefined && { description: schema.description }),
    ...variant,
  })),
];

/** The fields of an object, without those that the service adds itself. */
const fieldsOf = (schema: InputSchema, path: (string | number)[]): Field[] =>
  variantsOf(schema).flatMap(({ properties = {} }) =>
    Object.entries(properties)
      .filter(([, member]) => member.const === undefined)
      .map(([name, member]) => ({ name, path: [...path, name], schema: member })),
  );

const membersOf = ({ name, path, schema }: Field): Field[] =>
  wrappers.has(name) && schema.items !== undefined
    ? fieldsOf(schema.items, [...path, 0])
    : fieldsOf(schema, path);

/** Undefined if the field takes none of the notations. */
function fit(schema: InputSchema, notations: readonly unknown[]): unknown {
  for (const variant of variantsOf(schema)) {
    const found = fitting(variant, notations);
    if (found !== undefined) return found;
  }
  return undefined;
}

function fitting(schema: InputSchema, notations: readonly unknown[]): unknown {
  if (schema.enum !== undefined)
    return schema.enum.find((choice) => choice !== null && notations.some((each) => isSame(each, choice)));
  switch (schema.type) {
    case 'string': {
      const texts = notations.filter((each) => typeof each === 'string');
      const documented = shapeOf(schema.description);
      const longestFirst = texts.toSorted((one, other) => other.length - one.length);
      return (
        texts.find((each) => shapeOf(each) === shapeOf(schema.default)) ??
        longestFirst.find((each) => documented.includes(shapeOf(each))) ??
        texts[0]
      );
    }
    case 'integer':
      return notations.find((each) => Number.isInteger(each));
    case 'number':
      return notations.find((each) => typeof each === 'number');
    case 'boolean':
      return notations.find((each) => typeof each === 'boolean');
    case 'array': {
      const list = notations.find((each) => Array.isArray(each)) as unknown[] | undefined;
      const items = (list ?? notations.slice(0, 1)).map((each) => fit(schema.items ?? {}, [each]));
      return items.includes(undefined) ? undefined : items;
    }
    case undefined:
      return (schema.anyOf ?? schema.oneOf ?? schema.properties) ? undefined : notations[0];
    default:
      return undefined;
  }
}

const isSame = (one: unknown, other: unknown) => String(one).toLowerCase() === String(other).toLowerCase();
/** `16x9` and `4x3` have the same shape, and so have `5s` and `10s`. */
const shapeOf = (value: unknown) => String(value).replaceAll(/\d+/g, '0').toLowerCase();

function set(target: Record<string, unknown>, path: readonly (string | number)[], value: unknown): void {
  let at: Record<string | number, unknown> = target;
  for (const [index, step] of path.slice(0, -1).entries())
    at = (at[step] ??= typeof path[index + 1] === 'number' ? [] : {}) as Record<string | number, unknown>;
  at[path.at(-1) ?? ''] = value;
}
