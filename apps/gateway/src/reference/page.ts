import { buckets } from '#errors';
import { type Area, areas, headers, introduction, routes } from '#schemas';
import { html, Markup, prose } from './markup.js';
import { methodBadge, routeSection } from './route-section.js';
import { limits, shapeSections, typeOf } from './shape-sections.js';
import { row, table } from './table.js';

const inArea = (area: Area) => routes.filter((route) => route.area === area);
const anchor = (title: string) => title.toLowerCase().replaceAll(' ', '-');
const listed = Object.entries(areas) as [Area, string][];

/** The service document as one page, made once: no script, nothing from elsewhere. `style` is its style sheet. */
export const referencePage = (style: string): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Model Router, API reference</title>
        ${styleSheet(style)}
      </head>
      <body>
        <nav aria-label="Contents">${contents()}</nav>
        <main>
          <header>
            <h1>Model Router</h1>
            <p>${prose(introduction)}</p>
            <p>
              The same as OpenAPI 3.1: <a href="/openapi.json"><code>/openapi.json</code></a
              >. What one model takes is in its own document.
            </p>
          </header>
          ${credentials}
          ${listed.map(
            ([area, description]) =>
              html` <h2 id="${anchor(area)}">${area}</h2>
                <p class="lead">${description}</p>
                ${inArea(area).map(routeSection)}`,
          )}
          <h2 id="buckets">Error buckets</h2>
          <p class="lead">The closed set of categories of a failure.</p>
          ${bucketTable()}
          <h2 id="headers">Headers of answers</h2>
          <p class="lead">
            ${prose('`X-Service-Request-Id` stands on every answer, `X-Service-Error-Type` on every failure of `/v1` and `/v2`.')}
          </p>
          ${headerTable()}
          <h2 id="shapes">Shapes</h2>
          ${shapeSections()}
        </main>
      </body>
    </html> `.text;

/** Byte for byte what the page's policy has the hash of. */
const styleSheet = (style: string): Markup => new Markup(`<style>${style}</style>`);

const contents = (): Markup =>
  html` <a class="title" href="#credentials">Credentials</a>
    ${listed.map(
      ([area]) =>
        html` <a class="title" href="#${anchor(area)}">${area}</a>
          <ul>
            ${inArea(area).map(
              (route) =>
                html`<li>
                  <a href="#${route.name}">${methodBadge(route)} <span>${shortPath(route.path)}</span></a>
                </li>`,
            )}
          </ul>`,
    )}
    <a class="title" href="#buckets">Error buckets</a>
    <a class="title" href="#headers">Headers</a>
    <a class="title" href="#shapes">Shapes</a>`;

const shortPath = (path: string) => path.replace('/models/{provider}/{model}', '/…/{model}');

const code = (text: string) => html`<code>${text}</code>`;

const credentials = html`<h2 id="credentials">Credentials</h2>
  ${table(
    ['Paths', 'Send'],
    [
      row(code('/v1'), prose('`Authorization: Bearer` with an access token')),
      row(
        code('/v2'),
        prose(
          '`X-API-Key` with an API key, or `Authorization: Bearer` with an API key or an access token. `X-API-Key` comes first when both are sent.',
        ),
      ),
      row(html`elsewhere`, html`nothing`),
    ],
  )}`;

const target = (id: string, text: string) => html`<span id="${id}">${code(text)}</span>`;

const bucketTable = (): Markup =>
  table(
    ['Bucket', 'Status', 'Meaning'],
    Object.entries(buckets).map(([name, { status, otherStatuses, meaning }]) =>
      row(target(`bucket-${name}`, name), html`${[status, ...otherStatuses].join(', ')}`, prose(meaning)),
    ),
  );

const headerTable = (): Markup =>
  table(
    ['Header', 'Type', 'Meaning'],
    Object.entries(headers).map(([name, { schema, description }]) =>
      row(target(`header-${name}`, name), html`${typeOf(schema)} ${limits(schema)}`, prose(description)),
    ),
  );
