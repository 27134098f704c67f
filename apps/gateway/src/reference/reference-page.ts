import { createHash } from 'node:crypto';

/** Adds the console's type and colours to the style sheet of Swagger UI. Light only, like that style sheet. */
const style = `
:root { color-scheme: light; }
body, .swagger-ui, .swagger-ui .info .title, .swagger-ui .opblock-tag { font-family: Inter, system-ui, sans-serif; color: #18181c; }
body { margin: 0; background: #fff; font-size: 14px; line-height: 22px; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 20px; padding: 12px 20px; border-bottom: 1px solid #e9e9ec; background: #fafafa; }
.bar a { display: flex; align-items: center; gap: 10px; color: #6c6c77; font-weight: 500; text-decoration: none; }
.bar a:hover, .bar a:first-child { color: #18181c; } .bar a:first-child { margin-right: auto; font-weight: 600; }
.swagger-ui .info a, .swagger-ui a.nostyle:hover { color: #2554c7; }
.swagger-ui .scheme-container .schemes-title, .swagger-ui .servers { display: none; }
`;

/** Sends requests to the page's own origin, the only one that its policy allows. */
const script = `
'use strict';
fetch('/openapi.json')
  .then((answer) => answer.json())
  .then((spec) => SwaggerUIBundle({
    dom_id: '#document',
    spec: { ...spec, servers: [{ url: location.origin }] },
    defaultModelRendering: 'model',
    validatorUrl: null,
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
  }));
`;

export const referencePage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Model Router, API reference</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/docs/files/swagger-ui.css" />
    <style>${style}</style>
  </head>
  <body>
    <nav class="bar" aria-label="Pages">
      <a href="/console/"><img src="/console/mark.svg" alt="" width="24" height="24" />Model Router</a>
      <a href="/console/models">Models</a>
      <a href="/console/guide">Guide</a>
      <a href="/docs">API reference</a>
    </nav>
    <main id="document"></main>
    <script src="/docs/files/swagger-ui-bundle.js"></script>
    <script>${script}</script>
  </body>
</html>
`;

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Allows only our own scripts and style sheets. Images and audio of results may come from wherever assets are stored.
 */
export const contentSecurityPolicy = [
  `default-src 'none'`,
  `script-src 'self' ${hash(script)}`,
  `style-src 'self' ${hash(style)}`,
  `img-src * data: blob:`,
  `media-src * data: blob:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');
