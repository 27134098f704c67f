import { describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { withTimeout } from './with-timeout.js';

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

  it('is aborted by the outer signal, for its reason', async () => {
    const outer = new AbortController();
    const work = withTimeout(60_000, outer.signal, aborted);
    outer.abort(new Error('closing'));
    await expect(work).rejects.toThrow('closing');
    await expect(
      withTimeout(60_000, outer.signal, async (signal) => signal.throwIfAborted()),
    ).rejects.toThrow('closing');
  });

  it('is aborted when its time is over', async () => {
    await expect(withTimeout(1, undefined, aborted)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('does not keep the process from ending once it has ended', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await withTimeout(60_000, undefined, async () => {});
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before);
  });
});
