import { afterEach, expect, it, jest } from '@jest/globals';
import { createClock } from './clock.js';

afterEach(() => {
  jest.restoreAllMocks();
});

it('moves with the admin route, not with the system clock', () => {
  const clock = createClock();
  const before = clock.now();
  jest.spyOn(Date, 'now').mockReturnValue(before + 3_600_000);
  expect(clock.now() - before).toBeLessThan(60_000);
  clock.advance(3_600_000);
  expect(clock.now() - before).toBeGreaterThanOrEqual(3_600_000);
});
