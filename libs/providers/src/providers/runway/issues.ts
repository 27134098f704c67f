import type { Json } from '../../contract.js';
import { fieldError, type FieldReader } from '../../fields.js';
import { valueAt, valuesAt } from '../../pointer.js';

/** `issues[]` of a refused body, what each says beside code, path and message being its constraint; else the sentence. */
export const issues: FieldReader = (body) => {
  const found = valuesAt(body, '/issues/*');
  if (found.length > 0) return found.filter(isObject).map(fieldOf);
  const sentence = valueAt(body, '/failure') ?? valueAt(body, '/error');
  return typeof sentence === 'string' ? [fieldError([], sentence, valueAt(body, '/failureCode'))] : undefined;
};

const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldOf({ code, path, message, ...ctx }: Record<string, Json>) {
  const segments = (Array.isArray(path) ? path : []).filter(
    (segment) => typeof segment === 'string' || typeof segment === 'number',
  );
  return fieldError(segments, message, code, ctx);
}
