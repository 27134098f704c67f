import { expect, it } from '@jest/globals';
import { nextTryMs, ReceiverSlots } from './webhooks.processor.js';

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

const to = (workspaceId: string, receiver: string) => ({ workspaceId, receiver });

it('slots are counted by receiver and by workspace, and given back', () => {
  const slots = new ReceiverSlots();
  const taken = (workspaceId: string, receiver: string) => {
    let count = 0;
    while (slots.acquire(to(workspaceId, receiver))) count += 1;
    return count;
  };
  expect(taken('a', 'https://slow')).toBe(10);
  expect(taken('b', 'https://slow')).toBe(10);
  expect([1, 2, 3, 4, 5].map((nth) => taken('a', `https://${nth}`))).toEqual([10, 10, 10, 10, 0]);
  slots.release(to('a', 'https://slow'));
  expect(slots.isFree(to('a', 'https://1'))).toBe(false);
  expect(taken('a', 'https://5')).toBe(1);
  expect(taken('a', 'https://slow')).toBe(0);
});
