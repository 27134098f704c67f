import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { guideFolders, guidePages } from '../../apps/console/guide-pages.mjs';

const plugin = guidePages();

/** The pages of the guide in the console, by address. */
const pages = new Map(
  guideFolders.flatMap((folder) =>
    readdirSync(folder).map((name) => {
      const file = path.join(folder, name);
      const { code = '' } = plugin.transform(readFileSync(file, 'utf8'), file) ?? {};
      const [title, html] = [...code.matchAll(/= (".*");$/gm)].map(([, text = '""']) =>
        String(JSON.parse(text)),
      );
      const place = path.relative(path.dirname(folder), file).replace(/^guide\//, '');
      return [
        `/console/guide/${place.replace(/(README)?\.md$/, '')}`.replace(/\/$/, ''),
        { title, html: html ?? '' },
      ];
    }),
  ),
);

it('pages of the guide and of the errors have a title and working links', () => {
  expect(pages.size).toBe(guideFolders.flatMap((folder) => readdirSync(folder)).length);
  for (const [address, { title, html }] of pages) {
    expect([address, title]).toEqual([address, expect.stringMatching(/\w/)]);
    const links = [...html.matchAll(/ href="([^"]*)"/g)].map(([, href = '']) => href);
    expect([address, links.filter((href) => !leadsSomewhere(href, address))]).toEqual([address, []]);
  }
});

function leadsSomewhere(href: string, from: string): boolean {
  if (href.startsWith('https:')) return true;
  const [page = '', anchor] = href.split('#');
  const target = pages.get(page === '' ? from : page)?.html;
  return target !== undefined && (anchor === undefined || target.includes(` id="${anchor}"`));
}

it('the page of an error links back to all errors', () => {
  expect(pages.get('/console/guide/errors')?.html).toContain(
    '<a href="/console/guide/errors/rate_limited">rate_limited</a>',
  );
});
