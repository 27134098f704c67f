import { describe, expect, it } from '@jest/globals';
import { filesBelow, textOf } from './checkout-files.js';

const sources = ['apps/gateway/src', 'libs']
  .flatMap(filesBelow)
  .filter((name) => name.endsWith('.ts') && !/\.spec\.ts$|\/testing\//.test(name))
  .map(textOf)
  .join('\n');

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** Every text of the code that has a few words, as a pattern; what a template puts in matches anything. */
const sentences = [...sources.matchAll(/'([^'\n]+)'|`([^`\n]+)`/g)]
  .map(([, plain, template = '']) => (plain ?? template).split(/\$\{[^}]*\}/))
  .filter((parts) => (parts.join(' ').match(/[a-z]{2,}/g) ?? []).length > 2)
  .map((parts) => new RegExp(`^${parts.map(escaped).join('.*')}$`));

const pages = filesBelow('docs/errors').filter((name) => !name.endsWith('README.md'));

describe.each(pages)('%s', (name) => {
  it('shows sentences that the service says', () => {
    const shown = [...textOf(name).matchAll(/"detail": "((?:\\"|[^"])+)"/g)].map(([, text = '']) =>
      text.replaceAll('\\"', '"'),
    );
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter((text) => !sentences.some((sentence) => sentence.test(text)))).toEqual([]);
  });
});
