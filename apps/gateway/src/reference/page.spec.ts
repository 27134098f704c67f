import { describe, expect, it } from '@jest/globals';
import { buckets } from '#errors';
import { componentSchemas, routes } from '#schemas';
import { html, prose } from './markup.js';
import { referencePage } from './page.js';
import { style } from './style.js';

const page = referencePage(style);
const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);

describe('the reference page', () => {
  it('has a place for every route, shape and bucket, each once', () => {
    for (const id of [
      ...routes.map(({ name }) => name),
      ...Object.keys(componentSchemas()),
      ...Object.keys(buckets).map((bucket) => `bucket-${bucket}`),
    ]) {
      expect(ids).toContain(id);
    }
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('links to its own places, and to the document', () => {
    const links = [...page.matchAll(/ href="([^"]+)"/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => !(link.startsWith('#') && ids.includes(link.slice(1))));
    expect(broken).toEqual(['/openapi.json']);
  });

  it('runs nothing and loads nothing', () => {
    expect(page).not.toMatch(
      /<(script|link|img|iframe|object|form)|\bsrc=|javascript:|url\(|@import| on\w+=/i,
    );
    expect(style).not.toContain('<');
  });

  it('closes what it opens', () => {
    const open: string[] = [];
    const closed: [string, string | undefined][] = [];
    for (const [, slash, tag = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
      if (['meta', 'br'].includes(tag)) continue;
      if (slash === '') open.push(tag);
      else closed.push([tag, open.pop()]);
    }
    expect(open).toEqual([]);
    expect(closed.filter(([tag, opened]) => tag !== opened)).toEqual([]);
  });

  it('says every status of every route', () => {
    const sections = page.split('<section');
    for (const { name, answers } of routes) {
      const section = sections.find((each) => each.includes(` id="${name}"`)) ?? '';
      const statuses = [...section.matchAll(/class="status s\d">(\d+)</g)].map(([, status]) =>
        Number(status),
      );
      expect([name, statuses]).toEqual([name, answers.map(({ status }) => status)]);
    }
  });
});

describe('html', () => {
  it('escapes values, and leaves markup as it is', () => {
    expect(html`<p title="${'"'}">${['<b>', html`<i>&amp;</i>`]}${1}</p>`.text).toBe(
      '<p title="&quot;">&lt;b&gt;<i>&amp;</i>1</p>',
    );
    expect(prose('a `<b>` c').text).toBe('a <code>&lt;b&gt;</code> c');
  });
});
