import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { every } from './every.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const onError = () => {};

describe('every', () => {
  it('pauses before the first round, or starts immediately', async () => {
    const rounds: string[] = [];
    const late = every(100, () => rounds.push('late'), { onError });
    const early = every(100, () => rounds.push('early'), { onError, immediately: true });
    expect(rounds).toEqual(['early']);
    await jest.advanceTimersByTimeAsync(100);
    expect(rounds).toEqual(['early', 'late', 'early']);
    await Promise.all([late.stop(), early.stop()]);
  });

  it('starts the pause when a round ends, so that rounds never overlap', async () => {
    let started = 0;
    let end: () => void = onError;
    const slow = () => {
      started += 1;
      return new Promise<void>((resolve) => (end = resolve));
    };
    const work = every(100, slow, { onError, immediately: true });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(started).toBe(1);
    end();
    await jest.advanceTimersByTimeAsync(99);
    expect(started).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(started).toBe(2);
    end();
    await work.stop();
  });

  it('reports a failed round and continues', async () => {
    const errors: unknown[] = [];
    const fault = new Error('no');
    const failing = () => {
      throw fault;
    };
    const work = every(100, failing, { onError: (error) => errors.push(error) });
    await jest.advanceTimersByTimeAsync(200);
    expect(errors).toEqual([fault, fault]);
    await work.stop();
  });

  it('aborts the current round on stop, and waits for its end', async () => {
    const ended: string[] = [];
    const untilStopped = (signal: AbortSignal) =>
      new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => {
          ended.push('round');
          resolve();
        }),
      );
    const work = every(100, untilStopped, { onError, immediately: true });
    await work.stop();
    expect(ended).toEqual(['round']);
    expect(jest.getTimerCount()).toBe(0);
  });
});
