// Writes the simulator's schemas from a folder of OpenAPI documents, one per submission, as
// <provider>/<name>.json:
//
// node scripts/provider-schemas.mjs <folder>
//
// Only facts of a document are kept: types, enumerations, ranges, lengths, patterns and required fields. Its
// `x-source` names its origin; its one path is the address below the provider's base URL.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';

const [folder] = process.argv.slice(2);
const target = path.join(import.meta.dirname, '../apps/simulator/schemas');

const single = 'type enum const pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf';
const counted = 'required minLength maxLength minItems maxItems uniqueItems minProperties maxProperties';
const asWritten = new Set(`${single} ${counted}`.split(' '));
const oneSchema = new Set(['items', 'not', 'additionalProperties']);
const listOfSchemas = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The facts of a schema with its references written out. A schema that refers to itself is left open at the
 * second level.
 */
function factsOf(document, schema, within = []) {
  if (!isObject(schema)) return schema;
  const { $ref: ref, nullable, ...own } = schema;
  if (ref !== undefined) {
    if (within.includes(ref)) return {};
    const referred = ref
      .slice(2)
      .split('/')
      .reduce((at, name) => at?.[name.replaceAll('~1', '/')], document);
    return factsOf(document, { ...referred, ...own, nullable: nullable ?? referred?.nullable }, [
      ...within,
      ref,
    ]);
  }
  const facts = {};
  for (const [word, value] of Object.entries(own)) {
    if (asWritten.has(word)) facts[word] = value;
    else if (oneSchema.has(word) && value !== true) facts[word] = factsOf(document, value, within);
    else if (listOfSchemas.has(word)) facts[word] = value.map((each) => factsOf(document, each, within));
    else if (word === 'properties')
      facts[word] = Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, memberFacts(document, name, each, within)]),
      );
  }
  return nullable && Object.keys(facts).length > 0 ? { anyOf: [facts, { type: 'null' }] } : facts;
}

/** Lists of model names become plain strings, because a list is outdated by the next model. */
function memberFacts(document, name, schema, within) {
  const facts = factsOf(document, schema, within);
  const lists = JSON.stringify(facts).includes('"enum":') && !(facts.enum?.length === 1);
  return /^model(_name|_id|_version)?$/.test(name) && lists ? { type: 'string' } : facts;
}

for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.json')) continue;
  const document = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  const [[address, { post }]] = Object.entries(document.paths);
  const [{ schema }] = Object.values(post.requestBody.content);
  const made = { source: document['x-source'], path: address, schema: factsOf(document, schema) };
  const written = path.join(target, file);
  mkdirSync(path.dirname(written), { recursive: true });
  const options = { ...(await resolveConfig(written)), filepath: written };
  writeFileSync(written, await format(JSON.stringify(made), options));
}
