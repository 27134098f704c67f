import type { JsonSchema } from '#catalog';

/** A body, and what makes it hostile. */
interface Hostile {
  what: string;
  text: string;
}

const maxDepth = 6;

/** Bodies of about `bytes` bytes for every place of the schema: long lists, many names, long and deep values. */
export function* hostileInputs(schema: JsonSchema, bytes: number): Generator<Hostile> {
  for (const { at, place, wrap } of placesOf(schema, { at: '', wrap: (text) => text, depth: 0 })) {
    if (at === '') continue;
    for (const [what, text] of hostileValues(place, bytes))
      yield { what: `${what} at ${at}`, text: wrap(text) };
  }
}

interface Place {
  at: string;
  /** Puts a value at this place of a body. */
  wrap: (text: string) => string;
  depth: number;
}

function* placesOf(schema: JsonSchema, place: Place): Generator<Place & { place: JsonSchema }> {
  yield { ...place, place: schema };
  const { at, wrap } = place;
  const depth = place.depth + 1;
  if (depth > maxDepth) return;
  for (const branch of branchesOf(schema)) yield* placesOf(branch, { at, wrap, depth });
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const beside = tagsOf(schema, name);
    yield* placesOf(member, {
      at: `${at}/${name}`,
      wrap: (text) => wrap(`{${beside}${JSON.stringify(name)}:${text}}`),
      depth,
    });
  }
  if (schema.items)
    yield* placesOf(schema.items, { at: `${at}/*`, wrap: (text) => wrap(`[${text}]`), depth });
}

const branchesOf = ({ anyOf = [], oneOf = [], allOf = [] }: JsonSchema): JsonSchema[] => [
  ...anyOf,
  ...oneOf,
  ...allOf,
];

/** The constants beside a member: without them a union would pick a different branch. */
const tagsOf = ({ properties = {}, required = [] }: JsonSchema, except: string): string =>
  Object.entries(properties)
    .filter(([name, { const: only }]) => name !== except && only !== undefined && required.includes(name))
    .map(([name, { const: only }]) => `${JSON.stringify(name)}:${JSON.stringify(only)},`)
    .join('');

function* hostileValues(schema: JsonSchema, bytes: number): Generator<[what: string, text: string]> {
  yield ['numbers', listOf('1', bytes)];
  yield ['empty objects', listOf('{}', bytes)];
  yield ['empty lists', listOf('[]', bytes)];
  yield ['nested lists', `${'['.repeat(60)}${']'.repeat(60)}`];
  yield ['a long text', JSON.stringify('a'.repeat(bytes))];
  if (schema.pattern !== undefined) yield ['long digits', JSON.stringify(`${'1'.repeat(bytes)}!`)];
  if (schema.properties) {
    yield ['many names', `{${namesOf(bytes).join()}}`];
    yield ['a long name', `{"${'a'.repeat(bytes)}":1}`];
  }
  if (schema.items === undefined) return;
  for (const element of new Set([schema.items, ...branchesOf(schema.items)].map(usual))) {
    yield [`many ${element.slice(0, 30)} and a bad one`, listOf(element, bytes, '{"a":[1]}')];
    yield [`many lists of ${element.slice(0, 30)}`, listOf(`[${element}]`, bytes)];
  }
}

const listOf = (element: string, bytes: number, last = element): string =>
  `[${`${element},`.repeat(Math.max(0, Math.floor(bytes / (element.length + 1)) - 1))}${last}]`;

/** As many names as a body may have, or as fit. */
const namesOf = (bytes: number): string[] =>
  Array.from({ length: Math.min(9_900, Math.floor(bytes / 9)) }, (_, index) => `"k${index}":1`);

/** A short value that the schema most likely accepts. */
function usual(schema: JsonSchema): string {
  const { const: only, enum: values, type, properties = {}, required = [] } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (values?.[0] !== undefined) return JSON.stringify(values[0]);
  const [branch] = branchesOf(schema);
  if (branch !== undefined) return usual(branch);
  switch (type) {
    case 'string':
      return JSON.stringify('x'.repeat(schema.minLength ?? 1));
    case 'integer':
    case 'number':
      return String(schema.minimum ?? 1);
    case 'boolean':
      return 'true';
    case 'null':
      return 'null';
    case 'array':
      return '[]';
    case 'object':
    case undefined:
      return `{${required.map((name) => `${JSON.stringify(name)}:${usual(properties[name] ?? {})}`).join()}}`;
  }
}
