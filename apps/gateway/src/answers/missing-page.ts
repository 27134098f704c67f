import type { FastifyRequest } from 'fastify';
import { type ErrorAnswer, isRouterPath } from './error-answer.js';

/** Whether a browser asked for a page, outside the API, that does not exist. */
export const isMissingPage = ({ is404, method, headers, originalUrl }: FastifyRequest): boolean =>
  is404 && method === 'GET' && (headers.accept ?? '').startsWith('text/html') && !isRouterPath(originalUrl);

/** The same answer, for a person. Programs get the error in JSON. */
export const asPage = (answer: ErrorAnswer): ErrorAnswer => ({
  ...answer,
  headers: {
    ...answer.headers,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  },
  body: page,
});

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Page not found · Model Router</title>
  </head>
  <body>
    <main>
      <h1>Page not found</h1>
      <p>This address leads nowhere. It may be mistyped, or the page has moved.</p>
      <p><a href="/">Open the console</a> or <a href="/docs">the API reference</a>.</p>
    </main>
  </body>
</html>
`;
