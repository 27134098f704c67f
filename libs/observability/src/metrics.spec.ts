import { expect, it } from '@jest/globals';
import { Metrics } from './metrics.js';

it('every histogram has no wider step than from 2 to 5', async () => {
  const metrics = new Metrics();
  const histograms = Object.values(metrics).filter(
    (each): each is { upperBounds: number[] } => 'upperBounds' in Object(each),
  );
  expect(histograms).toHaveLength(8);
  for (const { upperBounds } of histograms)
    for (const [index, bound] of upperBounds.slice(1).entries())
      expect(bound / (upperBounds[index] ?? 0)).toBeLessThanOrEqual(2.5 + 1e-9);
});

it('counts runs of a provider that the process does not know under one label', () => {
  const metrics = new Metrics();
  metrics.knowProviders(['bfl']);
  expect(['bfl', 'removed', 'another'].map((name) => metrics.providerLabel(name))).toEqual([
    'bfl',
    'other',
    'other',
  ]);
});
