// Part of `npm run build`: writes each model's input and output types into the built TypeScript client.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadCatalog } from '../../dist/libs/catalog/src/load-catalog.js';

const file = fileURLToPath(new URL('dist/models.d.ts', import.meta.url));

const literals = (values) => values.map((value) => JSON.stringify(value)).join(' | ');
const all = (types, sign) => [...new Set(types)].map((type) => `(${type})`).join(` ${sign} `);

/** The TypeScript type for a schema of the catalog. These schemas have a single `type` each and no references. */
function typeOf(schema) {
  if (schema === undefined || schema === true) return 'unknown';
  if (schema === false || (schema.not && Object.keys(schema.not).length === 0)) return 'never';
  if (schema.not?.not) return typeOf(schema.not.not);
  if (schema.enum) return literals(schema.enum);
  if ('const' in schema) return literals([schema.const]);
  const parts = [
    plainType(schema),
    ...(schema.allOf ?? []).map(typeOf),
    ...[schema.anyOf, schema.oneOf].filter(Boolean).map((choices) => all(choices.map(typeOf), '|')),
  ].filter((type) => type !== 'unknown' && type !== '(unknown)');
  return parts.length === 0 ? 'unknown' : parts.length === 1 ? parts[0] : all(parts, '&');
}

function plainType(schema) {
  switch (schema.type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return `Array<${typeOf(schema.items)}>`;
    case 'integer':
    case 'number':
      return 'number';
    case undefined:
      return schema.properties ? objectType(schema) : 'unknown';
    default:
      return schema.type;
  }
}

function objectType({ properties = {}, required = [], additionalProperties }) {
  const members = Object.entries(properties)
    .filter(([, member]) => typeOf(member) !== 'never')
    .map(([name, member]) => {
      const text = member.description?.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ');
      const comment = text ? `/** ${text} */ ` : '';
      return `${comment}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(member)};`;
    });
  if (members.length > 0) return `{ ${members.join(' ')} }`;
  return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
}

function outputType(output) {
  if (output === undefined) return 'unknown';
  return /\bjson$/.test(output.mediaType) ? typeOf(output.schema) : 'Blob';
}

const { models } = await loadCatalog();
const entries = models.map(({ id, title, description, input, output }) => {
  const text = [title, description].filter(Boolean).join(': ');
  return `    /** ${text} */\n    ${JSON.stringify(id)}: { input: ${typeOf(input)}; output: ${outputType(output)} };`;
});
const empty = /export interface Models \{\s*\}/;
const declarations = readFileSync(file, 'utf8');
if (!empty.test(declarations))
  throw new Error(`no empty interface "Models" in ${file}; build the client first`);
writeFileSync(
  file,
  declarations.replace(empty, () => `export interface Models {\n${entries.join('\n')}\n}`),
);
