import { type Answer, type Credentials, headers, parameters, type Route } from '#schemas';
import { html, type Markup, nothing, prose } from './markup.js';
import { limits, shapeLink, typeOf } from './shape-sections.js';
import { row, table } from './table.js';

const credentialTexts: Record<Credentials, string> = {
  access_token: 'Access token',
  key_or_token: 'API key or access token',
  none: 'No credential',
};

export const methodBadge = ({ method }: Route): Markup =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

/** What there is to know about one route, under its name as the anchor. */
export const routeSection = (route: Route): Markup =>
  html` <section class="route" id="${route.name}">
    <h3>${route.summary}</h3>
    <p class="line">
      ${methodBadge(route)} <code>${route.path}</code>
      <span class="who">${credentialTexts[route.credentials]}</span>
    </p>
    <p>${prose(route.description)}</p>
    ${parameterTable(route)} ${input(route)} ${answerTable(route)}
  </section>`;

function parameterTable(route: Route): Markup {
  if (route.parameters.length === 0) return nothing;
  const rows = route.parameters.map((key) => {
    const { name, in: place, schema, description } = parameters[key];
    const optional = place === 'path' ? '' : ', optional';
    return row(
      html`<code>${name}</code> <small>${place}${optional}</small>`,
      html`${typeOf(schema)} ${limits(schema)}`,
      prose(description),
    );
  });
  return html`<h4>Parameters</h4>
    ${table(['Name', 'Type', 'Meaning'], rows)}`;
}

const input = ({ input }: Route): Markup =>
  input === null
    ? nothing
    : html`<h4>Body</h4>
        <p><code>application/json</code>, required: ${shapeLink(input)}</p>`;

function answerTable({ answers }: Route): Markup {
  const anyHeaders = answers.some((answer) => ownHeaders(answer).length > 0);
  const titles = ['Status', 'Meaning', 'Body', ...(anyHeaders ? ['Headers'] : [])];
  const rows = answers.map((answer) =>
    row(
      html`<b class="status s${Math.floor(answer.status / 100)}">${answer.status}</b>`,
      html`${prose(answer.description)} ${bucketLinks(answer)}`,
      body(answer),
      ...(anyHeaders ? [headerLinks(answer)] : []),
    ),
  );
  return html`<h4>Answers</h4>
    ${table(titles, rows, 'answers')}`;
}

const bucketLinks = ({ buckets }: Answer): Markup =>
  buckets.length === 0
    ? nothing
    : html`<br />${buckets.map((bucket) => html`<a class="bucket" href="#bucket-${bucket}">${bucket}</a> `)}`;

function body({ content }: Answer): Markup {
  const types = Object.entries(content);
  if (types.length === 0) return html`<small>none</small>`;
  return lines(
    types.map(([type, shape]) => (shape === null ? html`<code>${type}</code>` : shapeLink(shape))),
  );
}

/** The two that stand on every answer of their kind are said once, where the headers are explained. */
const everywhere = new Set(['X-Service-Request-Id', 'X-Service-Error-Type']);

const ownHeaders = (answer: Answer) => answer.headers.filter((name) => !everywhere.has(name));

const headerLinks = (answer: Answer): Markup =>
  lines(
    ownHeaders(answer).map(
      (name) =>
        html`<a href="#header-${name}"><code>${name}</code></a
          >${headers[name].always ? '' : html` <small>sometimes</small>`}`,
    ),
  );

const lines = (parts: Markup[]): Markup =>
  html`${parts.map((part, index) => (index ? [html`<br />`, part] : part))}`;
