import { shortened } from '#schemas';

/** The largest summary for a tool in bytes of JSON, which is about 500 tokens. */
export const maxSummaryBytes = 2048;

/** How much room a summary has, and where the rest is if that is too little. */
interface Room {
  maxBytes: number;
  rest: string;
}

interface Schema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

/** The parts of a model's OpenAPI document that a summary reads. */
export interface ModelDocument {
  info: { title: string; description?: string };
  'x-service-input-modalities'?: string[];
  'x-service-output-modalities'?: string[];
  'x-service-price'?: { text: string; next?: { from: string; text: string } };
  'x-service-stream'?: { member?: string };
  'x-service-lifecycle'?: { ends: string; successor?: string };
  paths: Record<
    string,
    {
      post: {
        requestBody: { content: Record<string, { schema?: Schema; example?: unknown }> };
        responses: Record<string, { content?: Record<string, object> }>;
      };
    }
  >;
}

interface ModelSummary {
  model: string;
  about?: string;
  /** The first day without the model, and the model to use instead. */
  ends?: string;
  successor?: string;
  takes?: string[];
  gives?: string[];
  price?: string;
  output?: string;
  /** A line for each field of the input. Required ones come first. */
  inputs: Record<string, string>;
  /** Optional fields for which there is no room. */
  more_inputs?: string[];
  example?: unknown;
  notes?: string;
}

/** How much a summary says. */
interface Detail {
  /** The longest description of a required and of an optional field, in characters. */
  required: number;
  optional: number;
  /** The levels of objects that are spelled out. */
  depth: number;
  /** The longest list of choices. */
  choices: number;
  /** The number of optional fields that are more than a name. */
  fields: number;
}

/** From most to least. The first that fits is taken, and the last always fits. */
const details: Detail[] = [
  { required: 200, optional: 200, depth: 4, choices: 40, fields: 100 },
  { required: 200, optional: 80, depth: 4, choices: 20, fields: 100 },
  { required: 120, optional: 40, depth: 3, choices: 20, fields: 100 },
  { required: 100, optional: 0, depth: 3, choices: 20, fields: 100 },
  { required: 80, optional: 0, depth: 2, choices: 12, fields: 30 },
  { required: 60, optional: 0, depth: 2, choices: 8, fields: 15 },
  { required: 40, optional: 0, depth: 1, choices: 6, fields: 5 },
  { required: 0, optional: 0, depth: 0, choices: 3, fields: 0 },
];
const ofTool: Room = {
  maxBytes: maxSummaryBytes,
  rest: 'describe_model with full: true returns the whole schema.',
};

/** A model in a few bytes: what it takes and gives, an example and the price. */
export function summaryOf(document: ModelDocument, room = ofTool): ModelSummary {
  const [operation] = Object.values(document.paths);
  const body = operation?.post.requestBody.content['application/json'];
  const output = Object.keys(operation?.post.responses['200']?.content ?? {})[0];
  const { member: streamMember } = document['x-service-stream'] ?? {};
  // No tool streams, and an optional field with one value need not be sent.
  const members = membersOf(body?.schema ?? {}).filter(
    ({ name, schema, isRequired }) => name !== streamMember && (isRequired || !isFixed(schema)),
  );
  // The title is in bold, for people.
  const about = document.info.description?.replaceAll('**', '').replaceAll(/\n+/g, ': ');
  const { ends, successor } = document['x-service-lifecycle'] ?? {};
  const head = {
    model: document.info.title,
    ...(about !== undefined && { about: shortened(about, 300) }),
    ...(ends !== undefined && { ends }),
    ...(successor !== undefined && { successor }),
    takes: document['x-service-input-modalities'] ?? [],
    gives: document['x-service-output-modalities'] ?? [],
    ...(document['x-service-price'] && { price: priceOf(document['x-service-price']) }),
    ...(output !== undefined && { output }),
  };
  const isLong = JSON.stringify(body?.example ?? {}).length > room.maxBytes / 4;
  const example = isLong ? undefined : body?.example;
  const made = details.map((detail) => () => withInputs(head, members, example, detail, room));
  return firstThatFits(made, room) ?? { model: document.info.title, inputs: {}, notes: room.rest };
}

function withInputs(
  head: Omit<ModelSummary, 'inputs'>,
  members: readonly Member[],
  example: unknown,
  detail: Detail,
  { rest }: Room,
) {
  const required = members.filter((each) => each.isRequired);
  const optional = members.filter((each) => !each.isRequired);
  const shown = optional.slice(0, detail.fields);
  const line = ({ schema: of, isRequired }: Member, maxText: number) => {
    const { text, description } = typeText(of, detail);
    return [isRequired ? `required ${text}` : text, short(description, maxText)].filter(Boolean).join('. ');
  };
  const inputs = Object.fromEntries([
    ...required.map((each) => [each.name, line(each, detail.required)]),
    ...shown.map((each) => [each.name, line(each, detail.optional)]),
  ]) as Record<string, string>;
  const more = optional.slice(detail.fields, detail.fields + 20).map(({ name }) => name);
  const notes =
    members.length === 0
      ? 'The catalog has no schema of the input: send what the provider documents.'
      : detail === details[0]
        ? undefined
        : `Shortened: ${rest}`;
  return {
    ...head,
    inputs,
    ...(more.length > 0 && { more_inputs: more }),
    ...(example !== undefined && { example }),
    ...(notes !== undefined && { notes }),
  };
}

function firstThatFits(made: (() => ModelSummary)[], { maxBytes }: Room): ModelSummary | undefined {
  for (const make of made) {
    const summary = make();
    if (Buffer.byteLength(JSON.stringify(summary)) <= maxBytes) return summary;
  }
  return undefined;
}

interface Member {
  name: string;
  schema: Schema;
  isRequired: boolean;
}

/** The members of an object. Those that the service adds itself, such as the name of the model, are left out. */
function membersOf({ properties = {}, required = [], allOf = [] }: Schema): Member[] {
  const own = Object.entries(properties)
    .filter(([, schema]) => schema.const === undefined && !isNever(schema))
    .map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) }));
  return [...own, ...allOf.flatMap(membersOf)];
}

/** Whether nothing but null fits. Rows mark fields this way that the service does not support. */
function isNever(schema: Schema | boolean): boolean {
  if (typeof schema === 'boolean') return !schema;
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return variants.every(isNever);
  if (schema.enum?.every((each) => each === null)) return true;
  return schema.type === 'null' || ('not' in schema && schema.type === undefined);
}

/** Whether only one value fits, beside null. */
const isFixed = ({ enum: choices }: Schema): boolean =>
  choices !== undefined && choices.filter((each) => each !== null).length === 1;

/** A schema in a few words, and its description without them. */
function typeText(schema: Schema, detail: Detail, depth = 0): { text: string; description: string } {
  const { description = '' } = schema;
  const text = [plainText(schema, detail, depth), boundsText(schema)].filter(Boolean).join(', ');
  return { text, description };
}

function plainText(schema: Schema, detail: Detail, depth: number): string {
  const { type, items, properties, enum: choices, anyOf, oneOf } = schema;
  if (choices !== undefined) return choicesText(choices, detail);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const variants = anyOf ?? oneOf;
  if (variants !== undefined && properties === undefined) {
    const texts = variants
      .filter((each) => each.type !== 'null')
      .map((each) => typeText(each, detail, depth).text);
    return short([...new Set(texts)].join(' or '), detail.depth === 0 ? 40 : 400);
  }
  if (type === 'array') return `array of ${typeText(items ?? {}, detail, depth).text}`;
  if (properties === undefined) return [type ?? 'any'].flat().join(' or ');
  if (depth >= detail.depth) return 'object';
  const members = membersOf(schema).map(
    (each) => `${each.name}${each.isRequired ? '' : '?'}: ${typeText(each.schema, detail, depth + 1).text}`,
  );
  return `{${members.join('; ')}}`;
}

function choicesText(choices: unknown[], { choices: max }: Detail): string {
  const texts = choices
    .filter((each) => each !== null)
    .map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  return texts.length > max ? `${texts.slice(0, max).join('|')}|… (${texts.length})` : texts.join('|');
}

function boundsText({ minimum, maximum, minItems, maxItems, maxLength, default: fallback }: Schema): string {
  const number =
    minimum !== undefined && maximum !== undefined
      ? `${minimum} to ${maximum}`
      : minimum !== undefined
        ? `at least ${minimum}`
        : maximum !== undefined
          ? `at most ${maximum}`
          : '';
  const many = maxItems === undefined ? '' : `${minItems ?? 0} to ${maxItems} items`;
  const long = maxLength === undefined ? '' : `at most ${maxLength} characters`;
  const given = fallback === undefined || fallback === null ? '' : `default ${JSON.stringify(fallback)}`;
  return [number, many, long, given.length > 60 ? '' : given].filter(Boolean).join(', ');
}

const short = (text: string, max: number): string => (max === 0 ? '' : shortened(text, max));

function priceOf({ text, next }: NonNullable<ModelDocument['x-service-price']>): string {
  const present = shortened(text, 400);
  return next === undefined ? present : `${present}; from ${next.from}: ${shortened(next.text, 400)}`;
}
