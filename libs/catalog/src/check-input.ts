import type { FieldError } from '#errors';
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { fieldErrors, weighsAtMost } from './field-errors.js';
import { linearTime } from './intake/pattern.js';
import type { JsonSchema } from './json-schema.js';
import type { Model } from './model.js';

const compiledSchemas = new WeakMap<Model, CompiledSchema>();

// An array of millions of wrong elements would give millions of errors; beyond this only the first is told.
const maxValuesFullyReported = 20_000;

/** Every failing field of the input; none when the model accepts it or has no authored schema. */
export function inputErrors(model: Model, parsedBody: unknown): FieldError[] {
  const { first, all } = compiledSchema(model);
  if (first(parsedBody)) return [];
  const failed = weighsAtMost(parsedBody, maxValuesFullyReported, 0) ? all : first;
  failed(parsedBody);
  const fields = fieldErrors(failed.errors ?? [], parsedBody);
  // A validator keeps its last errors, and with them the caller's body.
  first.errors = null;
  all.errors = null;
  return fields;
}

function compiledSchema(model: Model): CompiledSchema {
  const compiled = compiledSchemas.get(model) ?? compileSchema(model.input);
  compiledSchemas.set(model, compiled);
  return compiled;
}

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
