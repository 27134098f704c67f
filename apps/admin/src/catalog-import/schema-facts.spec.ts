import { describe, expect, it } from '@jest/globals';
import { loadCatalog } from '#catalog';
import { filePointers } from './schema-facts.js';

const text = { type: 'string' } as const;
const file = (...names: string[]) => ({
  type: 'object' as const,
  properties: Object.fromEntries(['url', ...names].map((name) => [name, text])),
});

describe('a file object of an output', () => {
  it.each([
    [['content_type']],
    [['file_name', 'file_size', 'label']],
    // fal also publishes files with a URL alone, and images with their size.
    [[]],
    [['width', 'height']],
  ])('has a `url` and %j', (names) => {
    const image = file(...names);
    expect(filePointers({ properties: { image, images: { items: image } } })).toEqual([
      '/image/url',
      '/images/*/url',
    ]);
  });

  it.each([[['title']], [['width', 'snippet']]])('is not a link with %j', (names) => {
    expect(filePointers({ properties: { source: file(...names) } })).toEqual([]);
  });

  it('is an asset of its row, in every row of fal', async () => {
    const { models } = await loadCatalog();
    const missing = models
      .filter(({ provider }) => provider === 'fal')
      .flatMap(({ id, assetPointers, output }) =>
        filePointers(output?.schema ?? {})
          .filter((place) => !assetPointers.includes(place))
          .map((place) => `${id} ${place}`),
      );
    expect(missing).toEqual([]);
  });
});
