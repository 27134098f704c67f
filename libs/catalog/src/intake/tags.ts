import type { JsonSchema } from '../json-schema.js';

/**
 * Whether the property tells the branches apart: all are objects, and each requires it as texts that no other
 * branch has.
 */
export function tagsBranches(
  property: string,
  { type, oneOf: branches = [], required = [] }: Pick<JsonSchema, 'type' | 'oneOf' | 'required'>,
): boolean {
  const tags = branches.map((branch) => {
    const isObject = (branch.type ?? type) === 'object';
    return isObject && [...required, ...(branch.required ?? [])].includes(property)
      ? tagsOf(property, branch)
      : [];
  });
  const all = tags.flat();
  return tags.every(({ length }) => length > 0) && new Set(all).size === all.length;
}

function tagsOf(property: string, { properties = {} }: JsonSchema): string[] {
  const declared = Object.hasOwn(properties, property) ? properties[property] : undefined;
  const values = declared?.const === undefined ? (declared?.enum ?? []) : [declared.const];
  return values.every((value) => typeof value === 'string') ? values : [];
}
