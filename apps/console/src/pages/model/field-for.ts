import type { Schema } from '../../api/model-document.ts';
import type { Medium } from '../../parts/media.ts';
import { fileKindOf, formSchema } from './form/form-schema.ts';

/** The first input field that takes a file of this kind. */
export function fieldFor(
  schema: Schema,
  kind: Medium['kind'],
): { name: string; isList: boolean } | undefined {
  for (const [name, field] of Object.entries(formSchema(schema).properties ?? {})) {
    const isList = field.type === 'array';
    const one = isList ? { description: field.description, ...field.items } : field;
    if (one.type === 'string' && fileKindOf(name, one) === kind) return { name, isList };
  }
  return undefined;
}
