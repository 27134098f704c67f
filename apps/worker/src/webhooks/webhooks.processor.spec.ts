import { expect, it } from '@jest/globals';
import { nextTryMs } from './webhooks.processor.js';

it('there are eight tries within 24 hours, each after a longer pause', () => {
  const pauses: number[] = [];
  for (let failed = 1; ; failed += 1) {
    const pauseMs = nextTryMs(failed);
    if (pauseMs === null) break;
    pauses.push(pauseMs);
  }
  expect(pauses.length + 1).toBe(8);
  expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
  const hours = pauses.reduce((sum, pauseMs) => sum + pauseMs, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(20);
  expect(hours).toBeLessThan(24);
});
