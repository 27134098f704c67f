import { expect, it } from '@jest/globals';
import { TokenRates } from './token-rates.js';

it('is the median of enough streams of several workspaces', () => {
  const rates = new TokenRates();
  const note = (count: number, tokens: number, workspaceId = 'a', seconds = 2) => {
    for (let nth = 0; nth < count; nth += 1) rates.note('acme/talk', workspaceId, tokens, seconds);
  };
  note(60, 100);
  note(60, 100, 'b');
  expect(rates.of('acme/talk')).toBeUndefined();
  note(1, 100, 'c');
  expect(rates.of('acme/talk')).toBe(50);
  expect(rates.of('acme/other')).toBeUndefined();
  // Too short to say anything.
  note(200, 1_000_000, 'c', 0.5);
  note(200, 0, 'c');
  expect(rates.of('acme/talk')).toBe(50);
});

it('forgets the oldest streams', () => {
  const rates = new TokenRates();
  for (let nth = 0; nth < 400; nth += 1) rates.note('acme/talk', String(nth % 4), nth < 200 ? 10 : 30, 1);
  expect(rates.of('acme/talk')).toBe(30);
});
