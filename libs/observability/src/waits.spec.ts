import { describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { backoff, waitIn, type Waits, withTimeout } from './waits.js';

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

describe('work with a time limit', () => {
  it('leaves no listener on a signal that outlives it, however it ends', async () => {
    const outer = new AbortController();
    for (let round = 0; round < 1_000; round += 1) {
      await withTimeout(60_000, outer.signal, async () => round);
      await withTimeout(60_000, outer.signal, () => Promise.reject(new Error('failed'))).catch(() => {});
    }
    expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
  });

  it('is aborted by the outer signal, with its reason', async () => {
    const outer = new AbortController();
    const work = withTimeout(60_000, outer.signal, aborted);
    outer.abort(new Error('closing'));
    await expect(work).rejects.toThrow('closing');
    await expect(
      withTimeout(60_000, outer.signal, async (signal) => signal.throwIfAborted()),
    ).rejects.toThrow('closing');
  });

  it('is aborted after the time limit', async () => {
    await expect(withTimeout(1, undefined, aborted)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('leaves no timer behind that keeps the process alive', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await withTimeout(60_000, undefined, async () => {});
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before);
  });
});

const refusal = () => new Error('busy');

describe('a wait in a line', () => {
  it('resolves with the given value', async () => {
    const line: Waits<string> = new Set();
    const waiting = [waitIn(line, {}), waitIn(line, {})];
    const [first, second] = line;
    second?.('second');
    first?.('first');
    expect(await Promise.all(waiting)).toEqual(['first', 'second']);
  });

  it('leaves the line as soon as its signal aborts, and leaves no listener behind', async () => {
    const line: Waits<void> = new Set();
    const leaving = new AbortController();
    const { signal } = leaving;
    const waiting = waitIn(line, { signal });
    leaving.abort(new Error('late'));
    expect(line.size).toBe(0);
    await expect(waiting).rejects.toThrow('late');
    await expect(waitIn(line, { signal })).rejects.toThrow('late');
    expect([line.size, getEventListeners(signal, 'abort')]).toEqual([0, []]);
  });

  it('is rejected after the maximum wait', async () => {
    const line: Waits<void> = new Set();
    await expect(waitIn(line, { maxMs: 1, refusal })).rejects.toThrow('busy');
    expect(line.size).toBe(0);
  });
});

const drawn = (attempt: number, jitter?: number) =>
  Array.from({ length: 500 }, () =>
    backoff(attempt, { baseMs: 500, maxMs: 30_000, ...(jitter !== undefined && { jitter }) }),
  );

describe('the pause before another attempt', () => {
  it.each([
    [1, 250, 500],
    [2, 500, 1000],
    [3, 1000, 2000],
    [6, 8000, 16_000],
    [7, 15_000, 30_000],
    [8, 15_000, 30_000],
    [1000, 15_000, 30_000],
  ])('of attempt %i is between %i and %i ms', (attempt, min, max) => {
    const pauses = drawn(attempt);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(min);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(max);
    expect(pauses.every(Number.isInteger)).toBe(true);
  });

  it('is random, so that work that failed together is not retried together', () => {
    expect(new Set(drawn(5)).size).toBeGreaterThan(100);
    expect(new Set(drawn(5, 0))).toEqual(new Set([8000]));
  });
});
