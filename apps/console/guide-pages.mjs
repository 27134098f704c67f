// Turns the guide in docs into pages of the console: `import { title, html } from '…/quickstart.md'`.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

/** The folders of docs that are written for callers. */
export const guideFolders = ['guide', 'errors'].map((folder) => path.join(docs, folder));

export function guidePages() {
  return {
    name: 'guide-pages',
    transform(markdown, file) {
      if (!guideFolders.includes(path.dirname(file))) return undefined;
      const title = /^# (.*)$/m.exec(markdown)?.[1] ?? '';
      const text = markdown.replace(/^# .*$/m, '');
      const code = Object.entries({ title, html: htmlOf(text, file) })
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
        .join('\n');
      return { code, map: null };
    },
  };
}

/** Headings get the anchors that links point to. Wide tables and listings scroll on their own. */
function htmlOf(markdown, file) {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const to = addressOf(href, file);
        return to === undefined ? words : `<a href="${to}">${words}</a>`;
      },
    },
  });
  return marked
    .parse(markdown)
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<table>', '<div class="scrolls" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
}

/** The link's address in the console, or undefined if its page is only in the checkout. */
function addressOf(href, file) {
  if (/^(https?:|#|\/)/.test(href)) return href;
  const [to, anchor] = href.split('#');
  const page = path.resolve(path.dirname(file), to);
  if (!guideFolders.includes(path.dirname(page))) return undefined;
  const [folder, name] = path.relative(docs, page).replace(/\.md$/, '').split(path.sep);
  const parts = [folder === 'guide' ? '' : folder, name === 'README' ? '' : name].filter(Boolean);
  return `/console/guide${parts.map((part) => `/${part}`).join('')}${anchor ? `#${anchor}` : ''}`;
}

const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-');
