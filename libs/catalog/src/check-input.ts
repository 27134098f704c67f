import { type FieldError, InputRejection } from '#errors';
import { membersOf, textAt, valueAt } from '#schemas';
import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { anyCase } from './accepted-input.js';
import { boundedItems } from './bounded-items.js';
import { fieldErrors } from './field-errors.js';
import { linearTime } from './intake/pattern.js';
import type { JsonSchema } from './json-schema.js';
import { misnamedFields } from './misnamed-fields.js';
import { type Model, oncePerModel } from './model.js';
import type { ConstantValue } from './model-row.js';
import { asSpelledByCaller, asSpelledByRow } from './spelling.js';

type Body = Readonly<Record<string, unknown>>;

/** The members that name the model and that the body leaves to the router. */
export const missingMembers = ({ constants = {} }: Model, parsedBody: Body): Record<string, ConstantValue> =>
  Object.fromEntries(Object.entries(constants).filter(([name]) => !Object.hasOwn(parsedBody, name)));

/** The provider's address for this input. */
export function addressFor(model: Model, parsedBody: Body): Record<string, string> {
  const { upstream, variants } = model;
  const input = asSpelledByRow(model, parsedBody);
  const variant = variants.find(({ contains }) =>
    contains.some((pointer) => (valueAt(input, pointer) ?? null) !== null),
  );
  return { ...upstream, ...variant?.upstream };
}

/** Throws `InputRejection` with the failing fields. */
export function checkInput(model: Model, parsedBody: Body, bytes: Uint8Array): void {
  const fields = bodyErrors(model, parsedBody, bytes);
  if (fields.length > 0) throw new InputRejection(fields);
}

/** Every failing field of the parsed body, else of its text. */
function bodyErrors(model: Model, parsedBody: Body, bytes: Uint8Array): FieldError[] {
  const failing = inputErrors(model, parsedBody);
  if (failing.length > 0) return failing;
  return [...hiddenMemberErrors(model, parsedBody, bytes), ...misnamedFields(model, bytes)];
}

/**
 * A parser takes the first of two members of one name, or the last; some take a name in any case. None of them may
 * find another model than the one of the path in a body that has passed.
 */
function hiddenMemberErrors(model: Model, parsedBody: Body, bytes: Uint8Array): FieldError[] {
  const { constants = {} } = model;
  const names = new Map(Object.keys(constants).map((name) => [anyCase(name), name]));
  if (!Object.keys(parsedBody).some((name) => names.has(anyCase(name)))) return [];
  for (const place of membersOf(bytes)) {
    const name = names.get(anyCase(place.name));
    if (name === undefined) continue;
    const value = JSON.parse(textAt(bytes, place)) as unknown;
    if (value === constants[name]) continue;
    const errors = inputErrors(model, { ...parsedBody, [name]: value });
    return errors.map((error) => ({ ...error, loc: ['body', place.name] }));
  }
  return [];
}

/**
 * Whether a server may take an input that was meant for another one: its own schema accepts it and declares every
 * field. Inputs are open, so a field that it does not know would be lost without a word.
 */
export const fits = (server: Model, input: Body, bytes: Uint8Array): boolean =>
  Object.keys(asSpelledByRow(server, input)).every((name) =>
    Object.hasOwn(server.input.properties ?? {}, name),
  ) && bodyErrors(server, input, bytes).length === 0;

/** The failing fields of the input, at most 100; none when the model accepts it or has no authored schema. */
export function inputErrors(model: Model, parsedBody: unknown): FieldError[] {
  const { accepts, errorsOf } = compiledSchema(model);
  const input = asSpelledByRow(model, parsedBody);
  if (accepts(input)) return [];
  return fieldErrors(errorsOf(input), input).map((field) => ({
    ...field,
    loc: asSpelledByCaller(model, { body: parsedBody }, field.loc),
  }));
}

const compiledSchema = oncePerModel(({ input }) => compileSchema(input));

interface CompiledSchema {
  /** Stops at the first failing field. */
  accepts: (body: unknown) => boolean;
  /** The errors of every failing field, of a long list those of its first failing elements. */
  errorsOf: (body: unknown) => ErrorObject[];
}

const options: Options = {
  // The intake has read the schema; what it lets pass has a meaning here.
  strict: false,
  strictNumbers: true,
  validateSchema: false,
  // A format describes and refuses nothing: what providers take for a URL is theirs to say.
  validateFormats: false,
  logger: false,
  discriminator: true,
  // Each error is put into words of our own.
  messages: false,
  // Decimal fractions are inexact in binary: 0.3 is a multiple of 0.1 for a caller.
  multipleOfPrecision: 9,
  ownProperties: true,
  // Its passes over the generated code cost more than they save.
  code: {
    optimize: false,
    regExp: Object.assign((pattern: string) => linearTime(pattern), { code: 'linearTime' }),
  },
  // No coercion, no defaults, no removal: the body is forwarded as it came.
};

const verdicts = new Ajv2020({ ...options, allErrors: false });
const reports = new Ajv2020({ ...options, allErrors: true, verbose: true });
reports.removeKeyword('items').addKeyword(boundedItems);

/** Compiles a schema of the one form; its errors have a validator of their own, which the first failing body compiles. */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const verdict = compiled(verdicts, schema);
  let report: ValidateFunction | undefined;
  return {
    accepts: (body) => errorsFrom(verdict, body).length === 0,
    errorsOf: (body) => errorsFrom((report ??= compiled(reports, schema)), body),
  };
}

function errorsFrom(validate: ValidateFunction, body: unknown): ErrorObject[] {
  validate(body);
  const errors = validate.errors ?? [];
  // A validator keeps its last errors, and with them the caller's body.
  validate.errors = null;
  return errors;
}

function compiled(ajv: Ajv2020, schema: JsonSchema): ValidateFunction {
  try {
    return ajv.compile(schema);
  } finally {
    // The validator keeps what it compiled for ever; a replaced catalog revision must be collectable.
    ajv.removeSchema(schema);
  }
}
