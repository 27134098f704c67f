import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { documents, filesBelow, pathOf, textOf } from './checkout-files.js';

const withoutBlocks = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '');

/** GitHub's anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (name: string): string[] =>
  [...withoutBlocks(textOf(name)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

/** The files that declare environment variables and the words of the API. */
const declared = ['docs/configuration.md', 'package.json']
  .concat(
    ['docker', 'libs/schemas/src', 'libs/observability/src', 'monitoring/src', 'test'].flatMap(filesBelow),
  )
  .filter((name) => !name.endsWith('README.md'))
  .map(textOf)
  .join('\n');

/** The settings that a text names, except OTEL_ ones, which belong to the SDK. */
const settingsIn = (passage: string): string[] =>
  [...passage.matchAll(/`((?!OTEL_)[A-Z][A-Z0-9]*_[A-Z0-9_]+)`/g)].map(([, each = '']) => each);

/** The files and folders of the checkout that a text names. */
const pathsIn = (passage: string): string[] =>
  [...passage.matchAll(/`((?:apps|libs|test|docs|docker|k8s|scripts|\.ci)\/[\w./-]+)`/g)].map(
    ([, each = '']) => each,
  );

/** The column "Before" of the table of changed names. */
const formerNamesIn = (text: string): string => {
  const [, changed = ''] = /^## Changed names$([^]*?)^## /m.exec(text) ?? [];
  return [...changed.matchAll(/^\|[^|]+\|([^|]+)\|/gm)].map(([, each = '']) => each).join('\n');
};

describe.each(documents())('%s', (name) => {
  const text = withoutBlocks(textOf(name));
  const former = formerNamesIn(text);

  it('links to files and headings that exist', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? name : path.join(path.dirname(name), file);
      if (!existsSync(pathOf(target))) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('names files and folders that exist', () => {
    const paths = pathsIn(text);
    const gone = pathsIn(former);
    expect(paths.filter((each) => !existsSync(pathOf(each)) && !gone.includes(each))).toEqual([]);
  });

  // The changelog also names removed settings.
  it('names settings that exist', () => {
    const names = settingsIn(text);
    const gone = name === 'CHANGELOG.md' ? names : settingsIn(former);
    expect(names.filter((each) => !declared.includes(each) && !gone.includes(each))).toEqual([]);
  });
});
