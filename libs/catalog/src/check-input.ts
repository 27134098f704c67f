import { type FieldError, InputRejection } from '#errors';
import { membersOf, textAt, valueAt } from '#schemas';
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { anyCase } from './accepted-input.js';
import { fieldErrors, weighsAtMost } from './field-errors.js';
import { linearTime } from './intake/pattern.js';
import type { JsonSchema } from './json-schema.js';
import { misnamedFields } from './misnamed-fields.js';
import { type Model, oncePerModel } from './model.js';
import type { MemberValue } from './model-row.js';
import { asSpelledByCaller, asSpelledByRow } from './spelling.js';

type Body = Readonly<Record<string, unknown>>;

/** The members that name the model and that the body leaves to the router. */
export const missingMembers = ({ members = {} }: Model, parsedBody: Body): Record<string, MemberValue> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !Object.hasOwn(parsedBody, name)));

/** The partner's address for this input. */
export function addressFor(model: Model, parsedBody: Body): Record<string, string> {
  const { upstream, variants } = model;
  const input = asSpelledByRow(model, parsedBody);
  const variant = variants.find(({ holds }) =>
    holds.some((pointer) => (valueAt(input, pointer) ?? null) !== null),
  );
  return { ...upstream, ...variant?.upstream };
}

/** Throws `InputRejection` with every failing field. */
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
  const { members = {} } = model;
  const names = new Map(Object.keys(members).map((name) => [anyCase(name), name]));
  if (!Object.keys(parsedBody).some((name) => names.has(anyCase(name)))) return [];
  for (const place of membersOf(bytes)) {
    const name = names.get(anyCase(place.name));
    if (name === undefined) continue;
    const value = JSON.parse(textAt(bytes, place)) as unknown;
    if (value === members[name]) continue;
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

// An array of millions of wrong elements would give millions of errors; beyond this only the first is told.
const maxValuesFullyReported = 20_000;

/** Every failing field of the input; none when the model accepts it or has no authored schema. */
export function inputErrors(model: Model, parsedBody: unknown): FieldError[] {
  const { first, all } = compiledSchema(model);
  const input = asSpelledByRow(model, parsedBody);
  if (first(input)) return [];
  const failed = weighsAtMost(input, maxValuesFullyReported, 0) ? all : first;
  failed(input);
  const fields = fieldErrors(failed.errors ?? [], input);
  // A validator keeps its last errors, and with them the caller's body.
  first.errors = null;
  all.errors = null;
  return fields.map((field) => ({
    ...field,
    loc: asSpelledByCaller(model, { body: parsedBody }, field.loc),
  }));
}

const compiledSchema = oncePerModel(({ input }) => compileSchema(input));

/** `first` stops at the first failing field, `all` reports every one. */
interface CompiledSchema {
  first: ValidateFunction;
  all: ValidateFunction;
}

const options: Options = {
  // The intake has read the schema; what it lets pass has a meaning here.
  strict: false,
  strictNumbers: true,
  validateSchema: false,
  // A format describes and refuses nothing: what partners take for a URL is theirs to say.
  validateFormats: false,
  logger: false,
  discriminator: true,
  verbose: true,
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

const firstError = new Ajv2020({ ...options, allErrors: false });
const allErrors = new Ajv2020({ ...options, allErrors: true });

/** Compiles a schema of the one form. */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  return { first: compiled(firstError, schema), all: compiled(allErrors, schema) };
}

function compiled(ajv: Ajv2020, schema: JsonSchema): ValidateFunction {
  try {
    return ajv.compile(schema);
  } finally {
    // The validator keeps what it compiled for ever; a replaced catalog revision must be collectable.
    ajv.removeSchema(schema);
  }
}
