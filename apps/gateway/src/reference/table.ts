import { html, type Markup } from './markup.js';

/** A table with a head; `kind` is the class by which the style sheet knows it. */
export const table = (titles: string[], rows: Markup[], kind = 'facts'): Markup =>
  html`<table class="${kind}">
    <thead>
      <tr>
        ${titles.map((title) => html`<th scope="col">${title}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;

export const row = (...cells: Markup[]): Markup =>
  html`<tr>
    ${cells.map((cell) => html`<td>${cell}</td>`)}
  </tr>`;
