import { describe, expect, it } from '@jest/globals';
import type { Generation } from './generation.js';
import { peaksOf } from './peaks.js';

function generation(atMs: number, takesMs: number, more: Partial<Generation> = {}): Generation {
  return {
    provider: 'bfl',
    id: `${atMs}`,
    model: 'm',
    path: '/',
    order: 1,
    atMs,
    tag: null,
    account: null,
    prompt: '',
    body: Buffer.alloc(0),
    bodySha256: '',
    headers: {},
    attempt: 1,
    tokens: [],
    control: new Map(),
    queuedMs: 0,
    takesMs,
    cancelAskedAtMs: null,
    canceledAtMs: null,
    pollCount: 0,
    resultCount: 0,
    assetCount: 0,
    abortedAtMs: null,
    used: null,
    replySha256: null,
    ...more,
  };
}

describe('peaksOf', () => {
  it('counts overlaps, but not a generation that starts exactly when another ends', () => {
    const chained = [generation(0, 10), generation(10, 10), generation(20, 10)];
    expect(peaksOf(chained, 25)).toEqual({ accepted: 3, live: 1, peak: 1 });
    const overlapping = [generation(0, 100), generation(50, 100), generation(99, 1), generation(120, 5)];
    expect(peaksOf(overlapping, 1000)).toEqual({ accepted: 4, live: 0, peak: 3 });
  });

  it('ends a cancelled generation at its cancellation', () => {
    const withdrawn = generation(0, 1000, { cancelAskedAtMs: 5, canceledAtMs: 5 });
    expect(peaksOf([withdrawn, generation(5, 10)], 6)).toEqual({ accepted: 2, live: 1, peak: 1 });
  });

  it('handles 10,000 generations', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => generation(index, 500));
    expect(peaksOf(many, 20_000)).toEqual({ accepted: 10_000, live: 0, peak: 500 });
  });
});
