import { describe, expect, it } from '@jest/globals';
import { reconnectDelayMs } from './backoff.js';
import { keyPrefix, laneName, runChannel } from './lane.js';

describe('lanes', () => {
  it('exist for each provider’s dispatches, and once for polls and assets', () => {
    expect(laneName('dispatch', 'fal')).toBe('dispatch-fal');
    expect(laneName('poll', 'fal')).toBe('poll');
    expect(laneName('assets', 'fal')).toBe('assets');
  });

  it('have a hash tag of their own, so that a lane stays in one cluster slot', () => {
    expect(keyPrefix('dispatch-fal')).toBe('{mr:dispatch-fal}');
    expect(runChannel('0198')).toBe('mr:run:0198');
  });
});

describe('reconnection', () => {
  it('is tried at once after a loss, and never less often than every 2 s', () => {
    expect(reconnectDelayMs(1)).toBe(50);
    const delays = Array.from({ length: 1_000 }, (_, n) => reconnectDelayMs(n + 1));
    expect(Math.max(...delays)).toBe(2_000);
    expect(delays).toEqual([...delays].sort((a, b) => a - b));
  });
});
