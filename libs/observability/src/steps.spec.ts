import { expect, it } from '@jest/globals';
import { steps } from './steps.js';

it.each([
  [0.001, 0.01, [0.001, 0.002, 0.005, 0.01]],
  [0.005, 0.3, [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]],
  [0.2, 60, [0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]],
  [1, 1, [1]],
])('steps from %d to %d', (lower, upper, expected) => expect(steps(lower, upper)).toEqual(expected));

it('adds the limits of objectives in order', () =>
  expect(steps(0.1, 1, [0.3])).toEqual([0.1, 0.2, 0.3, 0.5, 1]));
