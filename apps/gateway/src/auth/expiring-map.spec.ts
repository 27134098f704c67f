import { describe, expect, it } from '@jest/globals';
import { ExpiringMap } from './expiring-map.js';

describe('ExpiringMap', () => {
  it('forgets at the time it was told', () => {
    const map = new ExpiringMap<string>(10);
    map.set('a', 'A', 100);
    expect(map.get('a', 99)).toBe('A');
    expect(map.get('a', 100)).toBeUndefined();
    expect(map.size).toBe(0);
  });

  it('never holds more than its bound: the oldest goes first, a renewed one is young again', () => {
    const map = new ExpiringMap<number>(2);
    map.set('a', 1, 100);
    map.set('b', 2, 100);
    map.set('a', 3, 100);
    map.set('c', 4, 100);
    expect([map.get('a', 0), map.get('b', 0), map.get('c', 0), map.size]).toEqual([3, undefined, 4, 2]);
  });
});
