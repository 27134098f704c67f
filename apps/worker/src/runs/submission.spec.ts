import { describe, expect, it } from '@jest/globals';
import { retryPauseMs } from './submission.js';

const drawn = (attempt: number) => Array.from({ length: 500 }, () => retryPauseMs(attempt));

describe('the pause before another submission', () => {
  it.each([
    [1, 250, 500],
    [2, 500, 1000],
    [3, 1000, 2000],
    [6, 8000, 16_000],
    [7, 15_000, 30_000],
    [8, 15_000, 30_000],
    [1000, 15_000, 30_000],
  ])('of attempt %i is between %i and %i ms', (attempt, least, most) => {
    const pauses = drawn(attempt);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(least);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(most);
    expect(pauses.every(Number.isInteger)).toBe(true);
  });

  it('is spread, so that runs refused together do not come back together', () => {
    expect(new Set(drawn(5)).size).toBeGreaterThan(100);
  });
});
