/** Text that is HTML already. Everything else that gets into a page is escaped on its way. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = string | number | Markup | Part[];

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign);

function rendered(part: Part): string {
  if (Array.isArray(part)) return part.map(rendered).join('');
  return part instanceof Markup ? part.text : escaped(String(part));
}

/** A template whose values are escaped, unless they are markup. */
export const html = (texts: TemplateStringsArray, ...parts: Part[]): Markup =>
  new Markup(texts.map((text, index) => text + rendered(parts[index] ?? '')).join(''));

export const nothing = html``;

/** Words between backquotes become code, as in the sentences of the service document. */
export const prose = (sentence: string): Markup =>
  html`${sentence.split('`').map((words, index) => (index % 2 === 0 ? words : html`<code>${words}</code>`))}`;
