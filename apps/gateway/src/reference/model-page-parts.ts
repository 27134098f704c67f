/** The style sheet of a model's page, beside that of the library; light, as the library is. */
export const style = `
:root { color-scheme: light; }
body { margin: 0; background: #fff; color: #1c2127; font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
header { max-width: 1460px; margin: 0 auto; padding: 1.5rem 20px .5rem; box-sizing: border-box; }
h1 { font-size: 1.7rem; margin: .2rem 0 .8rem; overflow-wrap: anywhere; }
p { margin: .4rem 0; color: #5c6773; } a { color: #0b5cad; }
form { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; }
input { font: inherit; flex: 1 1 18rem; max-width: 34rem; padding: .35rem .6rem; border: 1px solid #b8c1cb; border-radius: 4px; }
form button { font: inherit; padding: .35rem .9rem; border: 1px solid #b8c1cb; border-radius: 4px; background: #f6f7f9; cursor: pointer; }
[role=alert] { color: #a4262c; }
.swagger-ui .info, .swagger-ui .scheme-container, .swagger-ui .opblock-tag { display: none; }
`;

/**
 * What a model's page does in the browser: asks for the model's document with the reader's credential, shows it, and
 * sends what is tried with the same credential. The library makes everything else.
 */
export const script = `
'use strict';
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
  const text = await answer.json();
  if (!answer.ok) return say(text.detail ?? text.message ?? 'The model could not be read.');
  sessionStorage.setItem(stored, input.value);
  SwaggerUIBundle({
    dom_id: '#document',
    spec: { ...text, servers: [{ url: location.origin }] },
    requestInterceptor: withCredential,
    deepLinking: false,
    docExpansion: 'full',
    defaultModelRendering: 'model',
    defaultModelsExpandDepth: -1,
    defaultModelExpandDepth: 3,
    validatorUrl: null,
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
