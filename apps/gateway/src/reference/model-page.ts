import { html, Markup } from './markup.js';
import { script, style } from './model-page-parts.js';

/**
 * The page of one model. It knows nothing but the id in its address, so it tells nobody which models there are: its
 * script asks for the model's document as whoever looks at the page.
 */
export const modelPage = (id: string): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${id}, Model Router</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/docs/files/swagger-ui.css" />
        ${new Markup(`<style>${style}</style>`)}
      </head>
      <body data-model="${id}">
        <header>
          <p><a href="/docs">API reference</a></p>
          <h1>${id}</h1>
          <form>
            <label for="key">API key or access token</label>
            <input id="key" type="password" autocomplete="off" spellcheck="false" required />
            <button>Show</button>
            <button type="button" id="forget">Forget it</button>
          </form>
          <p>It stays in this tab. A run that is tried here is a real one: it is billed.</p>
          <p role="alert" hidden></p>
        </header>
        <main id="document"></main>
        <script src="/docs/files/swagger-ui-bundle.js"></script>
        ${new Markup(`<script>${script}</script>`)}
      </body>
    </html> `.text;
