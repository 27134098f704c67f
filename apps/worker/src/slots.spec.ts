import { describe, expect, it, jest } from '@jest/globals';
import { done, type JobResult, putBackFor } from '#queue';
import { Slots } from './slots.js';

const { signal } = new AbortController();
const unreached = (): Promise<JobResult> => Promise.reject(new Error('the work must not be done'));

/** Acquires all slots of the key that the holder can get. */
function fill(slots: Slots, key: string, holder?: string): Disposable[] {
  const held: Disposable[] = [];
  for (let slot = slots.acquire(key, holder); slot; slot = slots.acquire(key, holder)) held.push(slot);
  return held;
}

describe('concurrency slots', () => {
  it('are limited per key, whatever other keys hold', () => {
    const slots = new Slots({ max: 3 });
    expect(fill(slots, 'hanging')).toHaveLength(3);
    expect(slots.free('hanging')).toBe(0);
    expect(slots.usage('hanging')).toEqual({ busy: 3, total: 3 });
    expect(slots.usage('healthy')).toEqual({ busy: 0, total: 3 });
    expect(fill(slots, 'healthy')).toHaveLength(3);
  });

  it('are free again once released', () => {
    const slots = new Slots({ max: 2 });
    const [first] = fill(slots, 'p');
    first?.[Symbol.dispose]();
    expect(slots.free('p')).toBe(1);
    expect(fill(slots, 'p')).toHaveLength(1);
  });

  it('of one key are shared among its holders, each with its own limit', () => {
    const slots = new Slots({ max: 4, maxOfHolder: 3 });
    const [first] = fill(slots, 'p', 'crowd');
    expect(fill(slots, 'p', 'other')).toHaveLength(1);
    expect([...slots.heldOf('p')]).toEqual([
      ['crowd', 3],
      ['other', 1],
    ]);
    first?.[Symbol.dispose]();
    expect(fill(slots, 'p', 'third')).toHaveLength(1);
    expect(slots.acquire('p', 'crowd')).toBeNull();
  });

  it('leave no trace of a key when the last one is released, since callers choose some of the keys', () => {
    const slots = new Slots({ max: 2 });
    for (const slot of fill(slots, 'p', 'a')) slot[Symbol.dispose]();
    expect(slots.heldOf('p').size).toBe(0);
    expect(slots.free('p')).toBe(2);
  });
});

describe('a job that finds no slot', () => {
  it('waits for the next one in turn', async () => {
    const totals: number[] = [];
    const slots = new Slots({ max: 2, onTotal: (held) => totals.push(held) });
    const order: string[] = [];
    const work = (name: string) =>
      slots.during('p', signal, async () => {
        order.push(name);
        return done;
      });
    const all = ['first', 'second', 'third', 'fourth'];
    expect(await Promise.all(all.map(work))).toEqual(all.map(() => done));
    expect(order).toEqual(all);
    expect(Math.max(...totals)).toBe(2);
    expect(totals.at(-1)).toBe(0);
  });

  it('is put back at once if as many wait as there are slots, so that other keys get their turn', async () => {
    const slots = new Slots({ max: 1 });
    const [held] = fill(slots, 'p');
    const waiting = slots.during('p', signal, async () => done);
    const result = await slots.during('p', signal, unreached);
    expect(result).toMatchObject({ kind: 'retry' });
    expect('delayMs' in result && result.delayMs >= 2_500 && result.delayMs <= 5_000).toBe(true);
    held?.[Symbol.dispose]();
    expect(await waiting).toEqual(done);
  });

  it('waits if no more jobs wait than slots were given back within half a second', async () => {
    jest.useFakeTimers();
    const slots = new Slots({ max: 2 });
    slots.acquire('p');
    for (let count = 0; count < 5; count += 1) slots.acquire('p')?.[Symbol.dispose]();
    slots.acquire('p');
    jest.advanceTimersByTime(500);
    const results: JobResult[] = [];
    for (let count = 0; count < 6; count += 1)
      void slots.during('p', signal, unreached).then((result) => results.push(result));
    await jest.advanceTimersByTimeAsync(0);
    expect(results).toMatchObject([{ kind: 'retry' }]);
    await jest.advanceTimersByTimeAsync(500);
    expect(results).toHaveLength(6);
    jest.useRealTimers();
  });

  it('is put back without doing its work if it was aborted', async () => {
    const slots = new Slots({ max: 1 });
    expect(await slots.during('p', AbortSignal.abort(), unreached)).toEqual(putBackFor(0));
    expect(slots.free('p')).toBe(1);
  });

  it('is retried later if the wait times out', async () => {
    const slots = new Slots({ max: 1 });
    fill(slots, 'p');
    expect(await slots.during('p', signal, unreached)).toMatchObject({ kind: 'retry' });
  });
});
