import type { JsonSchema } from '#catalog';

/** The schema without `allOf` and without the alternative null. Of other alternatives, the first. */
export function plain(schema: JsonSchema): JsonSchema {
  const { allOf = [], anyOf, oneOf, ...own } = schema;
  const whole = allOf.reduce<JsonSchema>((sum, each) => merged(sum, plain(each)), own);
  const branches = [...(anyOf ?? []), ...(oneOf ?? [])].filter(({ type }) => type !== 'null');
  const [first] = branches;
  return first === undefined ? whole : merged(plain(first), whole);
}

const merged = (one: JsonSchema, other: JsonSchema): JsonSchema => ({
  ...one,
  ...other,
  ...((one.properties ?? other.properties) && { properties: { ...one.properties, ...other.properties } }),
  ...((one.required ?? other.required) && { required: [...(one.required ?? []), ...(other.required ?? [])] }),
});

/** All alternatives of a schema, also nested ones. */
export const branchesOf = (schema: JsonSchema): JsonSchema[] => [
  schema,
  ...[...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(branchesOf),
];

/** The values that the schema lists, in all of its alternatives. */
export const listedValues = (schema: JsonSchema): unknown[] =>
  branchesOf(schema).flatMap((each) => [
    ...(each.enum ?? []),
    ...(each.const === undefined ? [] : [each.const]),
  ]);

const fileFields = ['content_type', 'file_name', 'file_size'];
/** Facts about an image, audio or video, which an object without `fileFields` may have. */
const mediaFields = new Set([
  'url',
  'width',
  'height',
  'duration',
  'fps',
  'num_frames',
  'sample_rate',
  'channels',
]);

function isFileObject(properties: Readonly<Record<string, JsonSchema>>): boolean {
  const names = Object.keys(properties);
  const describesFile =
    names.some((name) => fileFields.includes(name)) || names.every((name) => mediaFields.has(name));
  return names.includes('url') && describesFile;
}

/** JSON pointers to the URLs of file objects: objects with a `url`, and with nothing else or facts about a file. */
export function filePointers(schema: JsonSchema, pointer = '', depth = 0): string[] {
  if (depth > 8) return [];
  const found = branchesOf(schema).flatMap(({ properties = {}, items }) => {
    const isFile = isFileObject(properties);
    const inner = Object.entries(properties).flatMap(([name, each]) =>
      filePointers(each, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1),
    );
    const elements = items === undefined ? [] : filePointers(items, `${pointer}/*`, depth + 1);
    return [...(isFile ? [`${pointer}/url`] : []), ...inner, ...elements];
  });
  return [...new Set(found)];
}

/** JSON pointers to texts in the format `uri`, in the value and its lists. */
export const linkPointers = (schema: JsonSchema, pointer: string): string[] => [
  ...new Set(
    branchesOf(schema).flatMap(({ format, items, properties = {} }) => [
      ...(format === 'uri' ? [pointer] : []),
      ...(items === undefined ? [] : linkPointers(items, `${pointer}/*`)),
      ...Object.entries(properties).flatMap(([name, each]) => linkPointers(each, `${pointer}/${name}`)),
    ]),
  ),
];
