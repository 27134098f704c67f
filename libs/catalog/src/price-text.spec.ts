import { expect, it } from '@jest/globals';
import { price } from './price.js';
import { priceFrom, priceText } from './price-text.js';

it.each([
  ['fields that count once', { present: ['/a', '/b'] }, '$0.28 × number of a and 1 more', 0.28],
  [
    'fields that count several times',
    { present: ['/video'], each: 5 },
    '$0.28 × number of video (5 each)',
    1.4,
  ],
  [
    'fields that the bound counts more often',
    { present: ['/video'], each: 5, max_each: 30 },
    '$0.28 × number of video (5 to 30 each)',
    1.4,
  ],
])('shows %s with their number, and starts at the price of one', (_what, factor, text, usd) => {
  const priced = price.parse({ usd: 0.28, times: [factor] });
  expect(priceText(priced)).toBe(text);
  expect(priceFrom(priced)).toEqual({ usd, unit: text.slice('$0.28 × '.length).replace(/ \(.*/, '') });
});

it('does not start at a term that is only reserved', () => {
  const reserved = { usd: 0.004, times: [{ present: ['/image'], each: 0, max_each: 3 }] };
  const priced = price.parse({ ...reserved, plus: [{ usd: 0.03 }] });
  expect(priceText(priced)).toBe('$0.004 × number of image (0 to 3 each) + $0.03');
  expect(priceFrom(priced)).toEqual({ usd: 0.03, unit: 'run' });
});
