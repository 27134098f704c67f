import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { catalogOf } from './catalog.js';
import { fullEntry } from './model-views.js';
import { nextPrice, pricedAt } from './model.js';
import { didYouMean } from './nearest-ids.js';
import { quote } from './quote.js';
import { modelOfRow } from './testing/model-of-row.js';

const modelOf = (id: string, more: Record<string, unknown> = {}) =>
  modelOfRow({
    ...more,
    id,
    upstream: { path: id },
    charges_on_policy_rejection: 'unknown',
    price: { usd: 0.01 },
  });
const catalogWith = (...ids: string[]) => catalogOf(ids.map((id) => modelOf(id)));
const all = () => true;
const ofFal = ({ provider }: { provider: string }) => provider === 'fal';

const segment = fc.stringMatching(/^[a-z0-9]{1,5}([._-][a-z0-9]{1,3})?$/);
const ids = fc.uniqueArray(
  fc.tuple(segment, segment).map((parts) => parts.join('/')),
  { minLength: 1, maxLength: 40 },
);

describe('a catalog', () => {
  it('cannot be changed', () => {
    const catalog = catalogWith('a/x');
    expect(() => Object.assign(catalog, { revision: 'other' })).toThrow(TypeError);
    expect(() => Object.assign(catalog.models[0]?.price ?? {}, { usd: 0 })).toThrow(TypeError);
    expect(() => (catalog.models as unknown[]).push(modelOf('b/y'))).toThrow(TypeError);
  });
});

describe('find', () => {
  it('finds the ids of the rows, and no inherited property', () => {
    expect(catalogWith('a/x').find('a/x')?.id).toBe('a/x');
    expect(catalogWith('a/x').find('constructor')).toBeUndefined();
  });

  it('finds aliases with any number of segments, which pages do not list', () => {
    const catalog = catalogOf([modelOf('a/x', { aliases: ['b/y', 'b-ai/y/dev'] }), modelOf('a/z')]);
    expect([catalog.find('b/y')?.id, catalog.find('b-ai/y/dev')?.id]).toEqual(['a/x', 'a/x']);
    expect(catalog.page({ limit: 9, filter: all }).models.map(({ id }) => id)).toEqual(['a/x', 'a/z']);
  });
});

describe('idOf', () => {
  it('returns the canonical id, also of ended models, and an unknown name unchanged', () => {
    const ended = [{ id: 'a/gone', aliases: ['b/gone'], ended: '2026-01-01' }];
    const catalog = catalogOf([modelOf('a/x', { aliases: ['b/y'], ends: '2026-01-01' })], { ended });
    expect(['b/y', 'a/x', 'b/gone', 'c/z'].map((name) => catalog.idOf(name))).toEqual([
      'a/x',
      'a/x',
      'a/gone',
      'c/z',
    ]);
  });
});

describe('page', () => {
  it('shows every visible id once and in order, whatever the page size', () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 10 }), fc.func(fc.boolean()), (some, limit, visible) => {
        const catalog = catalogWith(...some);
        const filter = ({ id }: { id: string }) => visible(id);
        const walked: string[] = [];
        for (let cursorAfterId: string | undefined, more = true; more;) {
          const page = catalog.page({ ...(cursorAfterId ? { cursorAfterId } : {}), limit, filter });
          expect(page.models.length).toBeLessThanOrEqual(limit);
          walked.push(...page.models.map(({ id }) => id));
          // A page that does not advance would loop forever.
          expect(walked.length).toBeLessThanOrEqual(some.length);
          cursorAfterId = walked.at(-1);
          more = page.hasMore;
          // Only a full page may have more after it.
          expect(more && page.models.length < limit).toBe(false);
        }
        expect(walked).toEqual([...some].sort().filter((id) => visible(id)));
      }),
    );
  });

  it('continues after an id that a newer revision no longer has', () => {
    const page = catalogWith('a/x', 'c/z').page({ cursorAfterId: 'b/y', limit: 5, filter: all });
    expect(page).toMatchObject({ models: [{ id: 'c/z' }], hasMore: false });
  });

  it('has the models whose ids, title or description contain all words, whatever the words and the cursor', () => {
    const word = fc.stringMatching(/^[a-cA-C./]{1,3}$/);
    const rows = fc.uniqueArray(
      fc.record({ name: segment, alias: segment, title: word, description: fc.option(word) }),
      { minLength: 1, maxLength: 20, selector: ({ name }) => name },
    );
    fc.assert(
      fc.property(rows, fc.array(word, { maxLength: 3 }), segment, (some, words, after) => {
        const models = some.map(({ name, alias, title, description }, nth) =>
          modelOf(`a/${name}`, {
            aliases: [`b/${alias}${nth}`],
            title,
            ...(description !== null && { description }),
          }),
        );
        const cursorAfterId = `a/${after}`;
        const found = catalogOf(models).page({ cursorAfterId, limit: 99, words, filter: all });
        const texts = ({ id, aliases, title, description }: (typeof models)[number]) =>
          [id, ...aliases, title ?? '', description ?? ''].map((text) => text.toLowerCase());
        const expected = models
          .filter((model) =>
            words.every((each) => texts(model).some((text) => text.includes(each.toLowerCase()))),
          )
          .map(({ id }) => id)
          .filter((id) => id > cursorAfterId);
        expect(found.models.map(({ id }) => id)).toEqual(expected.toSorted());
      }),
    );
  });

  it('has no model twice whose text contains a word twice', () => {
    const catalog = catalogOf([modelOf('a/flux-flux', { title: 'Flux' }), modelOf('a/other')]);
    const found = (...words: string[]) => catalog.page({ limit: 9, words, filter: all }).models.length;
    expect([found('flux'), found('o'), found('a/', 'flux'), found('fluxa')]).toEqual([1, 1, 1, 0]);
  });
});

describe('suggest', () => {
  const catalog = catalogWith(
    'bfl/flux-2-pro',
    'bfl/flux-2-flex',
    'bfl/flux-pro-1.1',
    'fal/flux-dev',
    'google/veo-3.1',
    'google/veo-3.1-fast',
  );

  it('names the nearest first and at most three', () => {
    expect(catalog.suggest('bfl/flux-2-prp', all)).toEqual([
      'bfl/flux-2-pro',
      'bfl/flux-2-flex',
      'bfl/flux-pro-1.1',
    ]);
  });

  it('finds a model under a wrong provider', () => {
    expect(catalog.suggest('flux/flux-dev', all)[0]).toBe('fal/flux-dev');
  });

  it('puts the joined id of a three-segment path first', () => {
    expect(catalog.suggest('google/veo-3.1/fast', all)[0]).toBe('google/veo-3.1-fast');
    const other = catalogWith('google-veo-3.1/fast', 'google/veo-3.1-fast');
    expect(other.suggest('google/veo-3.1/fast', all)[0]).toBe('google/veo-3.1-fast');
  });

  it('never suggests models that the caller may not see', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (asked) => {
        const suggestions = catalog.suggest(asked, ofFal);
        expect(['', 'fal/flux-dev']).toContain(suggestions.join(','));
      }),
    );
    expect(catalog.suggest('bfl/flux-2-pro', ofFal)).not.toContain('bfl/flux-2-pro');
  });

  it('counts two swapped characters as one typo', () => {
    expect(catalogWith('bfl/a').suggest('blf/a', all)).toEqual(['bfl/a']);
    expect(catalogWith('fal/ab').suggest('fal/ba', all)).toEqual(['fal/ab']);
    expect(didYouMean('blf', ['fal', 'bfl', 'runway'])).toBe(' Did you mean bfl?');
    expect(didYouMean('lfb', ['bfl'])).toBe('');
  });

  it('suggests nothing for a completely different name', () => {
    expect(catalog.suggest('zzzzzzzzzzzzzzzz', all)).toEqual([]);
    expect(catalog.suggest('x'.repeat(100_000), all)).toEqual([]);
  });
});

const day = (fromNow: number) => new Date(Date.now() + fromNow * 86_400_000).toISOString().slice(0, 10);
const ending = (ends: string) =>
  catalogOf([
    modelOfRow({
      id: 'fal/old',
      ends,
      successor: 'fal/entirely-new',
      upstream: { path: 'x' },
      charges_on_policy_rejection: 'no',
      price: { usd: 0.01 },
    }),
    modelOf('fal/entirely-new'),
    modelOf('fal/older'),
  ]);

describe('a model that ends soon', () => {
  it('is available until its day', () => {
    const catalog = ending(day(1));
    expect(catalog.find('fal/old')).toBeDefined();
    expect(catalog.suggest('fal/ol', all)).toContain('fal/old');
  });

  it('is not found, listed or suggested after that; its successor is suggested first', () => {
    const catalog = ending(day(0));
    expect(catalog.find('fal/old')).toBeUndefined();
    expect(catalog.page({ limit: 9, filter: all }).models.map(({ id }) => id)).toEqual([
      'fal/entirely-new',
      'fal/older',
    ]);
    expect(catalog.suggest('fal/old', all)).toEqual(['fal/entirely-new', 'fal/older']);
    expect(catalog.suggest('fal/old', ({ id }) => id === 'fal/older')).toEqual(['fal/older']);
  });
});

describe('a model whose price changes', () => {
  const price = [{ usd: 1 }, { from: '2027-01-01', usd: 2 }, { from: '2028-01-01', usd: 3 }];
  let nowMs = 0;
  const changing = modelOfRow({
    id: 'fal/changing',
    aliases: ['fal/changes'],
    upstream: { path: 'x' },
    charges_on_policy_rejection: 'no',
    price,
  });
  const catalog = catalogOf([changing, modelOf('fal/other')], { nowMs: () => nowMs });

  it.each([
    ['2026-12-31T23:59:59.999Z', 1, '2027-01-01'],
    ['2027-01-01T00:00:00.000Z', 2, '2028-01-01'],
    ['2027-12-31T23:59:59.999Z', 2, '2028-01-01'],
    ['2030-06-01T00:00:00.000Z', 3, undefined],
  ])('costs at %s what its list says, everywhere', (time, usd, next) => {
    nowMs = Date.parse(time);
    const model = catalog.find('fal/changing');
    const [listed] = catalog.page({ limit: 1, filter: all }).models;
    // The same object, because schemas and documents are cached by it.
    expect(listed).toBe(model);
    expect(model?.price.usd).toBe(usd);
    expect(model && quote(model, {}).upperMicros).toBe(usd * 1_000_000);
    expect(model && fullEntry(model).price).toMatchObject({
      from_usd: usd,
      ...(next === undefined
        ? {}
        : { next: { from: next, from_usd: usd + 1, unit: 'run', text: `$${usd + 1}` } }),
    });
    expect(model && nextPrice(model)?.from).toBe(next);
    expect(catalog.suggest('fal/changes', all)).toEqual(['fal/changing']);
  });

  it('is the same object for all times of a price', () => {
    const [before, again, after] = ['2026-01-01', '2026-12-31', '2027-06-01'].map((day) =>
      pricedAt(changing, Date.parse(day)),
    );
    expect(again).toBe(before);
    expect(after).not.toBe(before);
    expect(after && pricedAt(after, Date.parse('2026-01-01'))).toBe(before);
    expect(changing.price).toBe(pricedAt(changing, Date.now()).price);
  });
});
