import { type FieldError, InputRejection, type UnknownField } from '#errors';
import { isExact, type JsonIndex, pointerFrom, pointerSegments, valueAt } from '#schemas';
import {
  _,
  Ajv2020,
  type AnySchema,
  type CodeKeywordDefinition,
  type ErrorObject,
  type Options,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import { ValueScope } from 'ajv/dist/compile/codegen/scope.js';
import { alwaysValidSchema, Type } from 'ajv/dist/compile/util.js';
import { anyCase } from './accepted-input.js';
import { linearTime } from './intake/pattern.js';
import type { JsonSchema } from './json-schema.js';
import { misnamedFields } from './misnamed-fields.js';
import { type Model, oncePerSchema } from './model.js';
import type { ConstantValue } from './model-row.js';
import { type MeasuredAnswers, type Quote, quote, type StreamPrice, streamPrice } from './quote.js';
import { settleUnions } from './settle-unions.js';
import { asSpelledByCaller, asSpelledByRow } from './spelling.js';
import { unknownFields } from './unknown-fields.js';
import { childOf, echoed, precedence, worded } from './vocabulary.js';

type Body = Readonly<Record<string, unknown>>;

/** The body of a call: the parsed value, and the members in its text, which another parser may read differently. */
export interface ParsedInput {
  body: Body;
  index: JsonIndex;
}

/** The terms on which one server accepts an input. */
export interface ServerTerms {
  /** The id of its row. */
  server: string;
  /** The price of the call. */
  price: Quote;
  /** The factor by which the bound of the price was multiplied, because the provider charged more than the row says. */
  lift?: number;
  /** The members that the router adds. */
  missingMembers: Record<string, ConstantValue>;
  /** The provider's address for the call. */
  upstream: Record<string, string>;
  /** The fields that are most likely typos. */
  unknownFields: UnknownField[];
  /**
   * Present if the call requests an event stream. If the stream breaks off before its usage arrives, this price is billed
   * for the part that arrived.
   */
  streams?: StreamPrice | undefined;
}

/** The parameters in the query of a call that change the provider's call. */
export interface CallQuery {
  /** `sse` requests an event stream from a model whose provider has no member for it. */
  alt?: string | undefined;
}

/** The figures that finished runs show, by the ids of their rows. */
export type MeasuredRows = ReadonlyMap<string, MeasuredAnswers>;

/**
 * The terms of every server that accepts the input, in order. The first server must accept it; otherwise this
 * throws `InputRejection` with the invalid fields.
 */
export function checkInput(
  [server, ...others]: readonly [Model, ...Model[]],
  input: ParsedInput,
  query: CallQuery = {},
  measured: MeasuredRows = new Map(),
): [ServerTerms, ...ServerTerms[]] {
  const fields = bodyErrors(server, input);
  if (fields.length > 0) throw new InputRejection(fields, unknownFields(server, input.body));
  const streams = requestsStream(server, input, query);
  const fitting = others.filter(
    (other) =>
      requestsStream(other, input, query) === streams &&
      declaresFields(other, input) &&
      bodyErrors(other, input).length === 0,
  );
  const terms = (model: Model) => termsOf(model, input, query, measured.get(model.id));
  return [terms(server), ...fitting.map(terms)];
}

const termsOf = (
  model: Model,
  input: ParsedInput,
  query: CallQuery,
  measured?: MeasuredAnswers,
): ServerTerms => ({
  server: model.id,
  price: quote(model, input.body, measured),
  missingMembers: missingMembers(model, input.body),
  upstream: addressFor(model, input.body),
  unknownFields: unknownFields(model, input.body),
  ...(requestsStream(model, input, query) && {
    streams: streamPrice(model, input.body, model.stream?.maxTokens ?? [], measured),
  }),
});

function requestsStream({ stream }: Model, { body }: ParsedInput, { alt }: CallQuery): boolean {
  if (stream === undefined) return false;
  const { request } = stream;
  return 'member' in request ? body[request.member] === (request.value ?? true) : alt === request.alt;
}

/** The members that name the model and that the body leaves out, so the router adds them. */
export const missingMembers = ({ constants = {} }: Model, body: Body): Record<string, ConstantValue> =>
  Object.fromEntries(Object.entries(constants).filter(([name]) => !Object.hasOwn(body, name)));

/** The provider's address for this input. */
function addressFor(model: Model, body: Body): Record<string, string> {
  const { upstream, variants } = model;
  const input = asSpelledByRow(model, body);
  const variant = variants.find(({ contains }) =>
    contains.some((pointer) => (valueAt(input, pointer) ?? null) !== null),
  );
  return { ...upstream, ...variant?.upstream };
}

/** Inputs are open, so a field that another server does not declare would be silently ignored there. */
const declaresFields = (server: Model, { body }: ParsedInput): boolean =>
  Object.keys(asSpelledByRow(server, body)).every((name) =>
    Object.hasOwn(server.input.properties ?? {}, name),
  );

/** All invalid fields of the parsed body, or, if there are none, those of its text. */
function bodyErrors(model: Model, { body, index }: ParsedInput): FieldError[] {
  const failing = inputErrors(model, body);
  if (failing.length > 0) return failing;
  return [
    ...otherReplyErrors(model, body),
    ...hiddenMemberErrors(model, body, index),
    ...misnamedFields(model, index),
  ];
}

/** Errors of members that request a kind of reply that the model does not have, if its schema does not say so. */
const otherReplyErrors = ({ refusesTrue = [] }: Model, body: Body): FieldError[] =>
  refusesTrue
    .filter((name) => Object.hasOwn(body, name) && body[name] !== false && body[name] !== null)
    .map((name) => ({
      loc: ['body', name],
      msg: 'Input should be false',
      type: 'literal_error',
      ctx: { expected: 'false' },
      ...echo(body[name]),
    }));

/**
 * Errors of members that name another model than the path. Of two members with one name, a parser may use the first
 * or the last, and some parsers ignore case, so every such member is checked.
 */
function hiddenMemberErrors(model: Model, body: Body, index: JsonIndex): FieldError[] {
  const { constants = {} } = model;
  const names = new Map(Object.keys(constants).map((name) => [anyCase(name), name]));
  if (!Object.keys(body).some((name) => names.has(anyCase(name)))) return [];
  for (const member of index.members) {
    if (member.within.around !== undefined) continue;
    const given = index.nameOf(member);
    const name = names.get(anyCase(given));
    if (name === undefined) continue;
    const value = index.parse(member);
    if (value === constants[name] || isSnapshot(model, name, value)) continue;
    const errors = inputErrors(model, { ...body, [name]: value });
    return errors.map((error) => ({ ...error, loc: ['body', given] }));
  }
  return [];
}

/** The invalid fields of the input, at most 100. None if the model accepts it or has no schema. */
export function inputErrors(model: Model, parsedBody: unknown): FieldError[] {
  const { accepts, errorsOf } = compiledSchema(model);
  const input = withConstant(model, asSpelledByRow(model, parsedBody));
  if (accepts(input)) return [];
  return fieldErrors(errorsOf(input), input).map((field) => ({
    ...field,
    loc: asSpelledByCaller(model, { body: parsedBody }, field.loc),
  }));
}

/** Whether the member names the row by another of the provider's names for it. */
const isSnapshot = ({ snapshots }: Model, name: string, value: unknown): boolean =>
  name === modelMember && typeof value === 'string' && snapshots.includes(value);

/** The input as it would be with the usual name of the model. */
function withConstant(model: Model, input: unknown): unknown {
  const { [modelMember]: given } = (input ?? {}) as Record<string, unknown>;
  return isSnapshot(model, modelMember, given)
    ? { ...(input as object), [modelMember]: model.constants?.[modelMember] }
    : input;
}

const modelMember = 'model';

const compiledSchema = oncePerSchema(({ input }) => compileSchema(input));

const options: Options = {
  // The intake has checked the schema, and passes only supported keywords.
  strict: false,
  strictNumbers: true,
  validateSchema: false,
  // Formats are only descriptions. Providers decide what they accept as a URL.
  validateFormats: false,
  logger: false,
  discriminator: true,
  // We write our own error messages.
  messages: false,
  // Decimal fractions are inexact in binary, but for a caller 0.3 is a multiple of 0.1.
  multipleOfPrecision: 9,
  ownProperties: true,
  // Optimizing the generated code costs more than it saves.
  code: {
    optimize: false,
    regExp: Object.assign((pattern: string) => linearTime(pattern), { code: 'linearTime' }),
  },
  // No coercion, no defaults, no removal: the body is forwarded unchanged.
};

/** The maximum number of entries of a 422 is also the maximum number of failing elements of a list. */
const maxFailingElements = 100;

/**
 * The keyword `items`, which stops at the hundredth failing element of a list. A validator that collects all errors
 * could otherwise collect millions of them.
 */
const boundedItems: CodeKeywordDefinition = {
  keyword: 'items',
  type: 'array',
  schemaType: 'object',
  code(context) {
    const { gen, data, it, schema } = context;
    if (alwaysValidSchema(it, schema as AnySchema)) return;
    const failing = gen.let('failing', 0);
    gen.forRange('i', 0, _`${data}.length`, (i) => {
      const valid = gen.name('valid');
      context.subschema({ keyword: 'items', dataProp: i, dataPropType: Type.Num }, valid);
      gen.if(_`!${valid} && ++${failing} >= ${maxFailingElements}`, () => gen.break());
    });
  },
};

const verdicts = new Ajv2020({ ...options, allErrors: false });
const reports = new Ajv2020({ ...options, allErrors: true, verbose: true });
reports.removeKeyword('items').addKeyword(boundedItems);

/**
 * Compiles a normalized schema. A second validator, which collects errors, is compiled for the first failing body.
 */
export function compileSchema(schema: JsonSchema) {
  const verdict = compiled(verdicts, schema);
  let report: ValidateFunction | undefined;
  return {
    /** Stops at the first invalid field. */
    accepts: (body: unknown): boolean => errorsFrom(verdict, body).length === 0,
    /** The errors of all invalid fields; of a long list, those of its first failing elements. */
    errorsOf: (body: unknown): ErrorObject[] => errorsFrom((report ??= compiled(reports, schema)), body),
  };
}

function errorsFrom(validate: ValidateFunction, body: unknown): ErrorObject[] {
  validate(body);
  const errors = validate.errors ?? [];
  // A validator keeps its last errors, which hold the caller's body in memory.
  validate.errors = null;
  return errors;
}

function compiled(ajv: Ajv2020, schema: JsonSchema): ValidateFunction {
  // Ajv caches compiled schemas forever, also in its scope, but a replaced catalog revision must be garbage-collected.
  Object.assign(ajv, { scope: new ValueScope({ ...ajv.scope.opts, scope: {} }) });
  try {
    return ajv.compile(schema);
  } finally {
    ajv.removeSchema(schema);
  }
}

const maxEchoWeight = 4096;
const maxFields = 100;
/** Maximum total size of all entries as JSON, in characters. */
const maxLength = 256 * 1024;

/**
 * One entry per invalid field, in the order of the schema, for the first constraint that it violates. At most 100
 * entries and 256 KiB: an entry that does not fit first loses its echo, and entries after the last one that fits
 * are dropped.
 */
function fieldErrors(errors: readonly ErrorObject[], body: unknown): FieldError[] {
  const fields: FieldError[] = [];
  let left = maxLength;
  for (const error of firstOfEachField(settleUnions(errors))) {
    const field = fieldError(error, body);
    const { input: _echo, ...bare } = field;
    const fitting = lengthOf(field) <= left ? field : bare;
    left -= lengthOf(fitting);
    if (left < 0 && fields.length > 0) break;
    fields.push(fitting);
  }
  return fields;
}

const lengthOf = (field: FieldError): number => JSON.stringify(field).length;

/** The error to report for each of the first hundred fields. */
function firstOfEachField(errors: readonly ErrorObject[]): Iterable<ErrorObject> {
  const fields = new Map<string, ErrorObject>();
  for (const error of errors) {
    const child = childOf(error);
    const field = child === undefined ? error.instancePath : error.instancePath + pointerFrom([child]);
    const known = fields.get(field);
    if (known === undefined ? fields.size < maxFields : rankOf(error) < rankOf(known))
      fields.set(field, error);
  }
  return fields.values();
}

const rankOf = ({ keyword }: ErrorObject): number => precedence.indexOf(keyword);

function fieldError(error: ErrorObject, body: unknown): FieldError {
  const { type, msg, ctx } = worded(error);
  const child = childOf(error);
  const path = [...locate(error.instancePath, body), ...(child === undefined ? [] : [child])];
  const loc = ['body', ...path.map((segment) => (typeof segment === 'string' ? echoed(segment) : segment))];
  // A missing field echoes the object that lacks it. An extra field echoes itself.
  const rejected =
    error.keyword === 'additionalProperties' && child !== undefined
      ? (error.data as Record<string, unknown>)[child]
      : error.data;
  return { loc, msg, type, ...(ctx === undefined ? {} : { ctx }), ...echo(rejected) };
}

/** The path in the 422 body: array indexes are integers, and field names stay strings even if numeric. */
function locate(instancePath: string, body: unknown): (string | number)[] {
  let value = body;
  return pointerSegments(instancePath).map((segment) => {
    const isIndex = Array.isArray(value);
    value = (value as Record<string, unknown> | undefined)?.[segment];
    return isIndex ? Number(segment) : segment;
  });
}

/**
 * The echo of an invalid value. Long strings, mostly inline images, are shortened. Large objects are left out, and
 * so are numbers that would change when serialized.
 */
function echo(value: unknown): { input?: unknown } {
  if (typeof value === 'string') return { input: echoed(value) };
  return weighsAtMost(value, maxEchoWeight) && isExact(value) ? { input: value } : {};
}

/**
 * Whether the weight of a parsed value is at most `limit`: one for each value in it, plus one for each character of
 * a string or name. It stops as soon as the limit is exceeded, so that a huge value costs no more than the limit.
 */
function weighsAtMost(value: unknown, limit: number): boolean {
  let weight = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    weight += 1 + (typeof next === 'string' ? next.length : 0);
    if (weight + open.length > limit) return false;
    if (Array.isArray(next)) {
      if (next.length > limit) return false;
      open.push(...(next as unknown[]));
    } else if (typeof next === 'object' && next !== null) {
      for (const key in next) {
        weight += key.length;
        if (open.length > limit) return false;
        open.push((next as Record<string, unknown>)[key]);
      }
    }
  }
  return true;
}
