import { type FieldError, InputRejection } from '#errors';
import { type CompiledSchema, compileSchema } from './compile-schema.js';
import { fieldErrors } from './field-errors.js';
import type { Model } from './model.js';
import { weighsAtMost } from './weigh.js';

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

/** Throws `InputRejection` with every failing field. */
export function checkInput(model: Model, parsedBody: unknown): void {
  const fields = inputErrors(model, parsedBody);
  if (fields.length > 0) throw new InputRejection(fields);
}

function compiledSchema(model: Model): CompiledSchema {
  const compiled = compiledSchemas.get(model) ?? compileSchema(model.input ?? { type: 'object' });
  compiledSchemas.set(model, compiled);
  return compiled;
}
