import { componentSchemas, type JsonSchema } from '#schemas';
import { html, type Markup, nothing, prose } from './markup.js';
import { row, table } from './table.js';

export const shapeLink = (name: string): Markup => html`<a class="shape" href="#${name}">${name}</a>`;

/** One section for every shape, to which types link by the shape's name. */
export const shapeSections = (): Markup[] =>
  Object.entries(componentSchemas()).map(
    ([name, schema]) =>
      html` <section class="shape" id="${name}">
        <h3>${name}</h3>
        <p>${prose(schema.description ?? '')}</p>
        ${schema.properties === undefined ? value(schema) : fields(schema)}
      </section>`,
  );

const value = (schema: JsonSchema): Markup => html`<p class="value">${typeOf(schema)} ${limits(schema)}</p>`;

const fields = ({ properties = {}, required = [] }: JsonSchema): Markup =>
  table(
    ['Field', 'Type', 'Meaning'],
    Object.entries(properties).map(([name, schema]) =>
      row(
        html`<code>${name}</code> ${required.includes(name) ? nothing : html`<small>optional</small>`}`,
        html`${typeOf(schema)} ${limits(schema)}`,
        prose(meaningOf(schema)),
      ),
    ),
  );

/** A reference without words of its own is described by what it refers to. */
function meaningOf(schema: JsonSchema): string {
  const target = schema.$ref === undefined ? undefined : componentSchemas()[nameOf(schema.$ref)];
  return schema.description ?? target?.description ?? '';
}

const nameOf = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1);

export function typeOf(schema: JsonSchema): Markup {
  if (schema.$ref !== undefined) return shapeLink(nameOf(schema.$ref));
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum !== undefined)
    return html`one of ${schema.enum.map((each) => html` <code>${String(each)}</code>`)}`;
  if (schema.type === 'array') return html`array of ${schema.items ? typeOf(schema.items) : 'anything'}`;
  return html`${schema.type ?? 'anything'}`;
}

export function limits(schema: JsonSchema): Markup {
  const facts = [
    schema.format,
    length(schema),
    range(schema),
    schema.pattern === undefined ? undefined : html`matches <code>${schema.pattern}</code>`,
    schema.default === undefined ? undefined : html`default <code>${JSON.stringify(schema.default)}</code>`,
    schema.examples === undefined
      ? undefined
      : html`such as <code>${schema.examples.map(String).join(', ')}</code>`,
  ].filter((fact) => fact !== undefined);
  return facts.length === 0
    ? nothing
    : html`<small>${facts.map((fact, index) => [index ? ' · ' : '', fact])}</small>`;
}

function length({ minLength, maxLength }: JsonSchema): string | undefined {
  if (maxLength === undefined) return undefined;
  return minLength === undefined
    ? `at most ${maxLength} characters`
    : `${minLength} to ${maxLength} characters`;
}

function range({ minimum, maximum }: JsonSchema): string | undefined {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `at least ${minimum}`;
  return maximum === undefined ? undefined : `at most ${maximum}`;
}
