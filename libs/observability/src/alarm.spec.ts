import { expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { Alarm } from './alarm.js';

it('rings at once for what is due now, and once for times that are close to each other', async () => {
  const rung: number[] = [];
  const startedAtMs = performance.now();
  const alarm = new Alarm(() => rung.push(performance.now() - startedAtMs));
  alarm.set(0);
  expect(rung).toHaveLength(1);
  for (let count = 0; count < 20; count += 1) alarm.set(100);
  await pause(300);
  expect(rung.length).toBeGreaterThanOrEqual(2);
  expect(rung.length).toBeLessThanOrEqual(3);
  expect(rung[1]).toBeGreaterThanOrEqual(100);
});
