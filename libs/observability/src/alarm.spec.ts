import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Alarm } from './alarm.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('rings immediately if already due, and only once for times that are close together', () => {
  let rung = 0;
  const alarm = new Alarm(() => (rung += 1));
  alarm.set(0);
  expect(rung).toBe(1);
  for (let count = 0; count < 20; count += 1) alarm.set(100);
  jest.advanceTimersByTime(99);
  expect(rung).toBe(1);
  jest.advanceTimersByTime(51);
  expect(rung).toBe(2);
  alarm.set(10);
  jest.advanceTimersByTime(50);
  expect(rung).toBe(3);
});
