// Writes docs/operations/catalog-reference.md from the built schemas of the catalog's files. With --check it
// writes nothing, reports a page that differs and exits with 1.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { catalogSchemas } from '../dist/libs/catalog/src/index.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const name = 'docs/operations/catalog-reference.md';

/** Every field of a schema with its path. A shape that was already described elsewhere is not repeated. */
function* fieldsOf(schema, path = '', known = new Map()) {
  if (schema.deprecated) return;
  for (const [field, about] of Object.entries(schema.properties ?? {})) {
    const place = path === '' ? field : `${path}.${field}`;
    if (about.deprecated) continue;
    const shape = JSON.stringify({ ...about, description: undefined, default: undefined });
    const sameAs = shape.includes('"properties"') ? known.get(shape) : undefined;
    known.set(shape, sameAs ?? place);
    yield { place, about, sameAs, required: schema.required?.includes(field) && about.default === undefined };
    if (sameAs === undefined) yield* fieldsOf(about, place, known);
  }
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) {
    yield* fieldsOf(branch, path, known);
  }
  if (schema.items) yield* fieldsOf(schema.items, `${path}[]`, known);
  if (typeof schema.additionalProperties === 'object')
    yield* fieldsOf(schema.additionalProperties, `${path}.*`, known);
}

const meaningsIn = ({ meanings, items, anyOf = [] }) =>
  meanings ?? [items ?? {}, ...anyOf].map((each) => each.meanings).find(Boolean);

const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');

function section(title, schema) {
  const fields = new Map();
  const values = new Map();
  for (const { place, about, sameAs, required } of fieldsOf(schema)) {
    if (!about.description) throw new Error(`${title}: ${place} has no description`);
    const byDefault = about.default === undefined ? '' : `\`${JSON.stringify(about.default)}\``;
    const meaning = sameAs ? `${about.description} As \`${sameAs}\`.` : about.description;
    // Alternatives may share a field.
    if (!fields.has(place + about.description)) {
      fields.set(place + about.description, [`\`${place}\``, required ? '**required**' : byDefault, meaning]);
    }
    const meanings = meaningsIn(about);
    if (meanings) values.set(place, meanings);
  }
  const tables = [...values].map(
    ([place, meanings]) =>
      `### \`${place}\`\n\n${table(
        ['Value', 'Meaning'],
        Object.entries(meanings).map(([value, text]) => [`\`${value}\``, text]),
      )}`,
  );
  return [`## ${title}`, table(['Field', 'Default', 'Meaning'], [...fields.values()]), ...tables].join(
    '\n\n',
  );
}

const page = `# Fields of a catalog's files

Every field of the files in a catalog directory; \`[]\` stands for the elements of a list, \`*\` for names that you choose.
Unknown fields are rejected. [Your own catalog](catalog.md) explains how they work together; \`admin catalog schema\` prints the same
as JSON Schema. This page is generated from the schemas in the code (\`npm run docs:catalog\`); edit those, not the page.

${section('A model', catalogSchemas.model())}

${section('A provider', catalogSchemas.provider())}
`;
const options = await resolveConfig(`${root}README.md`);
const text = await format(page, { ...options, parser: 'markdown' });
const isCurrent = existsSync(root + name) && readFileSync(root + name, 'utf8') === text;
if (process.argv.includes('--check')) {
  if (!isCurrent) process.stderr.write(`${name} differs from the schemas; run npm run docs:catalog\n`);
  process.exitCode = isCurrent ? 0 : 1;
} else if (!isCurrent) {
  writeFileSync(root + name, text);
  process.stdout.write(`wrote ${name}\n`);
}
