import { type ErrorObject, Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { RE2JS } from 're2js';
import type { JsonSchema } from './json-schema.js';

export type { ErrorObject };

/** `first` stops at the first failing field, `all` reports every one. */
export interface CompiledSchema {
  first: ValidateFunction;
  all: ValidateFunction;
}

// Patterns come from catalog rows and meet callers' strings of any length: the engine's time is linear.
const linearTime = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: 'linearTime' });

const options: Options = {
  strict: true,
  // A branch of a union may require a field that stands beside the union.
  strictRequired: false,
  // Rows are held to the accepted subset of JSON Schema when they are read.
  validateSchema: false,
  discriminator: true,
  verbose: true,
  // Decimal fractions are inexact in binary: 0.3 is a multiple of 0.1 for a caller.
  multipleOfPrecision: 9,
  ownProperties: true,
  code: { regExp: linearTime },
  // No coercion, no defaults, no removal: the body is forwarded as it came.
};

function validator(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({ ...options, allErrors });
  for (const name of ['uri', 'uuid', 'date-time'] as const) {
    // The full `uri` expression overflows the stack on a long data: URI; the fast one does not.
    ajv.addFormat(name, formats.default.get(name, 'fast'));
  }
  ajv.addFormat('binary', true);
  return ajv;
}

const firstError = validator(false);
const allErrors = validator(true);

/** Throws when the schema contradicts itself, such as a bound on a string. */
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
