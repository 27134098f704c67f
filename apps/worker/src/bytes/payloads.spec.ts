import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { ByteBudget } from './payloads.js';

const unbounded = new AbortController().signal;

async function settled(work: Promise<unknown>): Promise<boolean> {
  let done = false;
  void work.then(
    () => (done = true),
    () => (done = true),
  );
  await turn();
  return done;
}

describe('a byte budget', () => {
  it('makes a body wait until others release their bytes', async () => {
    const budget = new ByteBudget(100);
    const [first, second] = [budget.open(), budget.open()];
    await first.grow(80, unbounded);
    const waiting = second.grow(30, unbounded);
    expect(await settled(waiting)).toBe(false);
    first[Symbol.dispose]();
    await waiting;
    second[Symbol.dispose]();
  });

  it('never makes the oldest share wait, so that one always finishes', async () => {
    const budget = new ByteBudget(100);
    const [first, second] = [budget.open(), budget.open()];
    await first.grow(60, unbounded);
    await second.grow(40, unbounded);
    const younger = second.grow(1, unbounded);
    await first.grow(1_000, unbounded);
    expect(await settled(younger)).toBe(false);
    first[Symbol.dispose]();
    await younger;
    second[Symbol.dispose]();
  });

  it('ends a wait when its signal aborts, and forgets the waiting share', async () => {
    const budget = new ByteBudget(10);
    const first = budget.open();
    await first.grow(10, unbounded);
    const leaving = new AbortController();
    const second = budget.open();
    const waited = second.grow(1, leaving.signal);
    leaving.abort(new Error('late'));
    await expect(waited).rejects.toThrow('late');
    second[Symbol.dispose]();
    first[Symbol.dispose]();
    using third = budget.open();
    await third.grow(10, unbounded);
  });

  it('releases everything when the work fails', async () => {
    const budget = new ByteBudget(10);
    const failing = async () => {
      using share = budget.open();
      await share.grow(10, unbounded);
      throw new Error('failed');
    };
    await expect(failing()).rejects.toThrow('failed');
    const [next, another] = [budget.open(), budget.open()];
    await next.grow(5, unbounded);
    await another.grow(5, unbounded);
  });
});
