import { describe, expect, it } from '@jest/globals';
import { assert, integer, property } from 'fast-check';
import { centsFromMicros, centsText, microsFromCents, maxCents } from './money.js';

describe('money', () => {
  it('has ten thousand micro-dollars per cent', () => {
    expect(microsFromCents(10_000)).toBe(100_000_000);
    expect(centsFromMicros(100_000_000)).toBe(10_000);
  });

  it('converts every amount of cents back unchanged', () => {
    assert(
      property(integer({ min: -maxCents, max: maxCents }), (cents) => {
        expect(Number.isSafeInteger(microsFromCents(cents))).toBe(true);
        expect(centsFromMicros(microsFromCents(cents))).toBe(cents);
      }),
    );
  });

  it('shows fractions of a cent, and a missing limit as a word', () => {
    expect(centsText(1)).toBe('0.0001');
    expect(centsText(-12_345)).toBe('-1.2345');
    expect(centsText(0)).toBe('0');
    expect(centsText(null)).toBe('unlimited');
  });
});
