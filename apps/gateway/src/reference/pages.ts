import { createHash } from 'node:crypto';

/** Beside the style sheet of Swagger UI: the type and colours of the console; light, as that style sheet is. */
const style = `
:root { color-scheme: light; }
body, .swagger-ui, .swagger-ui .info .title, .swagger-ui .opblock-tag { font-family: Inter, system-ui, sans-serif; color: #18181c; }
body { margin: 0; background: #fff; font-size: 14px; line-height: 22px; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 20px; padding: 12px 20px; border-bottom: 1px solid #e9e9ec; background: #fafafa; }
.bar a { display: flex; align-items: center; gap: 10px; color: #6c6c77; font-weight: 500; text-decoration: none; }
.bar a:hover, .bar a:first-child { color: #18181c; } .bar a:first-child { margin-right: auto; font-weight: 600; }
.model { max-width: 1460px; margin: 0 auto; padding: 24px 20px 8px; box-sizing: border-box; }
h1 { font-size: 20px; line-height: 28px; margin: 0 0 12px; overflow-wrap: anywhere; }
p { margin: 6px 0; color: #6c6c77; } a, .swagger-ui .info a, .swagger-ui a.nostyle:hover { color: #2554c7; }
form { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; }
input { font: inherit; flex: 1 1 18rem; max-width: 34rem; padding: .35rem .6rem; border: 1px solid #dcdce0; border-radius: 8px; }
form button { font: inherit; padding: .35rem .9rem; border: 1px solid #dcdce0; border-radius: 8px; background: #fafafa; cursor: pointer; }
[role=alert] { color: #b3261e; }
[data-model] .info, .swagger-ui .scheme-container .schemes-title, [data-model] .scheme-container, [data-model] .opblock-tag, .swagger-ui .servers { display: none; }
`;

/** Requests go to where the page was read from, which is all that its policy allows. */
const showDocument = `
'use strict';
const showDocument = (spec, options) => SwaggerUIBundle({
  dom_id: '#document',
  spec: { ...spec, servers: [{ url: location.origin }] },
  defaultModelRendering: 'model',
  validatorUrl: null,
  ...options,
});
`;

const referenceScript = `${showDocument}
fetch('/openapi.json')
  .then((answer) => answer.json())
  .then((spec) => showDocument(spec, { deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: 0 }));
`;

/** Reads the model's document with the reader's credential, shows it, and sends what is tried with the same credential. */
const modelScript = `${showDocument}
const stored = 'model-router-credential';
const form = document.querySelector('form');
const input = document.getElementById('key');
const alertLine = document.querySelector('[role=alert]');
const say = (text) => { alertLine.textContent = text; alertLine.hidden = text === ''; };
const withCredential = (request) => {
  if (new URL(request.url, location.href).origin === location.origin)
    request.headers = { ...request.headers, Authorization: 'Bearer ' + input.value.trim() };
  return request;
};
async function show() {
  say('');
  const path = '/v2/models/' + document.body.dataset.model;
  const { url, headers } = withCredential({ url: path + '/openapi.json' });
  const answer = await fetch(url, { headers });
  const spec = await answer.json();
  if (!answer.ok) return say(spec.detail ?? spec.message ?? 'The model could not be read.');
  sessionStorage.setItem(stored, input.value);
  showDocument(spec, {
    requestInterceptor: withCredential,
    deepLinking: false,
    docExpansion: 'full',
    defaultModelsExpandDepth: -1,
    defaultModelExpandDepth: 3,
  });
}
form.addEventListener('submit', (event) => {
  event.preventDefault();
  show().catch((error) => say('The service could not be reached: ' + error.message));
});
document.getElementById('forget').addEventListener('click', () => {
  sessionStorage.removeItem(stored);
  location.reload();
});
input.value = sessionStorage.getItem(stored) ?? '';
if (input.value) form.requestSubmit();
`;

const bar = `<nav class="bar" aria-label="Pages">
      <a href="/console/"><img src="/console/mark.svg" alt="" width="24" height="24" />Model Router</a>
      <a href="/console/">Console</a>
      <a href="/console/guide">Guide</a>
      <a href="/docs">API reference</a>
    </nav>`;

const page = (title: string, body: string, script: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/docs/files/swagger-ui.css" />
    <style>${style}</style>
  </head>
  ${body}
    <main id="document"></main>
    <script src="/docs/files/swagger-ui-bundle.js"></script>
    <script>${script}</script>
  </body>
</html>
`;

export const referencePage = page(
  'Model Router, API reference',
  `<body>
    ${bar}`,
  referenceScript,
);

/**
 * The page of one model. It is the same for models that do not exist, so it does not reveal which ones do: its script reads
 * the model's document with the reader's credential.
 */
export const modelPage = (id: string): string =>
  page(
    `${id}, Model Router`,
    `<body data-model="${id}">
    ${bar}
    <header class="model">
      <h1>${id}</h1>
      <form>
        <label for="key">API key or access token</label>
        <input id="key" type="password" autocomplete="off" spellcheck="false" required />
        <button>Show</button>
        <button type="button" id="forget">Forget it</button>
      </form>
      <p>It stays in this tab. A run that is tried here is a real one: it is billed.</p>
      <p role="alert" hidden></p>
    </header>`,
    modelScript,
  );

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Own scripts and style sheets only. Images and sounds of a tried run are shown from wherever its assets are kept. */
export const contentSecurityPolicy = [
  `default-src 'none'`,
  `script-src 'self' ${hash(referenceScript)} ${hash(modelScript)}`,
  `style-src 'self' ${hash(style)}`,
  `img-src * data: blob:`,
  `media-src * data: blob:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');
