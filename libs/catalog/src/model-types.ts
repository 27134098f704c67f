import type { JsonSchema } from './json-schema.js';
import { type Model, oncePerModel } from './model.js';

const start = 'export interface Models {';
/** Members are indented, so this is the end of the interface. */
const end = '\n}';

/**
 * The declarations of the TypeScript client with the input and output types of these models, in place of those that its
 * interface `Models` has.
 */
export function withModelTypes(declarations: string, models: readonly Model[]): string {
  const from = declarations.indexOf(start);
  const to = declarations.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error('the declarations have no interface "Models"');
  return `${declarations.slice(0, from)}${start}${models.map(modelType).join('')}${declarations.slice(to)}`;
}

/** The member of a model. Cached, because the types of all models take longer than one request may take. */
export const modelType = oncePerModel(({ id, title, description, input, output }) => {
  const comment = commentOf([title, description].filter(Boolean).join(': '));
  return `\n    ${comment}${JSON.stringify(id)}: { input: ${typeOf(input)}; output: ${outputType(output)} };`;
});

const literals = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join(' | ');
const all = (types: readonly string[], sign: string) =>
  [...new Set(types)].map((type) => `(${type})`).join(` ${sign} `);

/** The type for a schema of the catalog. These schemas have a single `type` each and no references. */
function typeOf(schema: JsonSchema | boolean | undefined): string {
  if (schema === undefined || schema === true) return 'unknown';
  if (schema === false) return 'never';
  const { not } = schema;
  if (not !== undefined && Object.keys(not).length === 0) return 'never';
  if (not?.not !== undefined) return typeOf(not.not);
  if (schema.enum) return literals(schema.enum);
  if ('const' in schema) return literals([schema.const]);
  const known = schema['x-service-known-values'];
  // The intersection keeps the known values in an editor's list of suggestions.
  if (known && schema.type === 'string') return `${literals(known)} | (string & {})`;
  const parts = [
    plainType(schema),
    ...(schema.allOf ?? []).map(typeOf),
    ...[schema.anyOf, schema.oneOf].flatMap((choices) => (choices ? [all(choices.map(typeOf), '|')] : [])),
  ].filter((type) => type !== 'unknown' && type !== '(unknown)');
  return parts.length === 0 ? 'unknown' : parts.length === 1 ? String(parts[0]) : all(parts, '&');
}

function plainType(schema: JsonSchema): string {
  switch (schema.type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return `Array<${typeOf(schema.items)}>`;
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case undefined:
      return schema.properties ? objectType(schema) : 'unknown';
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: JsonSchema): string {
  const members = Object.entries(properties)
    // The type is computed once a member: twice at every depth would take exponential time.
    .map(([name, member]) => ({ name, type: typeOf(member), comment: commentOf(member.description) }))
    .filter(({ type }) => type !== 'never')
    .map(({ name, type, comment }) => {
      const optional = required.includes(name) ? '' : '?';
      return `${comment}${JSON.stringify(name)}${optional}: ${type};`;
    });
  if (members.length > 0) return `{ ${members.join(' ')} }`;
  return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
}

function outputType(output: Model['output']): string {
  if (output === undefined) return 'unknown';
  return /\bjson$/.test(output.mediaType) ? typeOf(output.schema) : 'Blob';
}

/** A comment on one line, which the text of a row cannot end. */
function commentOf(text = ''): string {
  const line = text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ').trim();
  return line === '' ? '' : `/** ${line} */ `;
}
