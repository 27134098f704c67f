import { describe, expect, it } from '@jest/globals';
import { readModel } from './model.js';

const sound = {
  id: 'a/b',
  upstream: { path: 'b' },
  charges_on_policy_rejection: 'no',
  price: { usd: 0.01 },
};
const times = (factor: object) => ({ ...sound, price: { usd: 0.01, times: [factor] } });

/**
 * The old name, the new name, a row with the old name, and its place. The names in provider files have their own
 * spec.
 */
const cases: [word: string, name: string, row: object, place: string][] = [
  ['at', 'path', times({ number: '/n', alternatives: [{ at: '/m' }] }), 'price.times.0.alternatives.0.at'],
  [
    'at',
    'path',
    times({ number: '/n', max: 9, flags: { at: '/p', names: ['n'] } }),
    'price.times.0.flags.at',
  ],
  ['at', 'path', { ...sound, price: { usd: 1, reported: [{ at: '/cost', usd: 1 }] } }, 'price.reported.0.at'],
  [
    'at',
    'path',
    { ...sound, price: { usd: 1, reported: [{ path: '/cost', when: { at: '/n', above: 1 }, usd: 1 }] } },
    'price.reported.0.when.at',
  ],
  ['at_most', 'max_count', times({ present: ['/a'], at_most: 3 }), 'price.times.0.at_most'],
  [
    'fails',
    'errors',
    { ...sound, counter_examples: [{ input: {}, fails: [{ loc: ['body', 'a'], type: 'missing' }] }] },
    'counter_examples.0.fails',
  ],
  ['holds', 'contains', { ...sound, variants: [{ holds: ['/a'], upstream: {} }] }, 'variants.0.holds'],
  ['like', 'extends', { id: 'a/b', like: 'a/c' }, 'like'],
  ['members', 'constants', { ...sound, members: { model: 'b' } }, 'members'],
  ['most', 'max', times({ number: '/n', most: 12 }), 'price.times.0.most'],
  ['most', 'max_each', times({ characters: '/text', most: 2 }), 'price.times.0.most'],
  ['or', 'alternatives', times({ table: '/a', or: ['/b'], values: { x: 1 } }), 'price.times.0.or'],
  [
    'references',
    'unbounded_fields',
    times({ tokens: '', max: 9, references: ['url'] }),
    'price.times.0.references',
  ],
];

describe('a name of the first release in a row', () => {
  it.each(cases)('%s is rejected, and the problem gives the new name %s', (word, name, row, place) => {
    const read = readModel(row);
    expect('problems' in read && read.problems).toEqual([
      {
        path: place.split('.').map((each) => (/^\d+$/.test(each) ? Number(each) : each)),
        message: expect.stringMatching(new RegExp(`^"${word}" is now called .*"${name}"`)),
      },
    ]);
  });
});
