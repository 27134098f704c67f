import { describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { ByteBudget, type Share } from './byte-budget.js';

const unbounded = new AbortController().signal;

/** A share that is held until it is told to end. */
function held(budget: ByteBudget): { share: Promise<Share>; end: () => void } {
  const ending = new EventEmitter();
  const share = new Promise<Share>((resolve) => {
    void budget.during(async (mine) => {
      resolve(mine);
      await once(ending, 'end');
    });
  });
  return { share, end: () => void ending.emit('end') };
}

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
  it('lets bodies wait until others have given their bytes back', async () => {
    const budget = new ByteBudget(100);
    const [first, second] = [held(budget), held(budget)];
    await (await first.share).grow(80, unbounded);
    const waiting = (await second.share).grow(30, unbounded);
    expect(await settled(waiting)).toBe(false);
    first.end();
    await waiting;
    second.end();
  });

  it('never keeps the oldest waiting, so that there is always one that ends', async () => {
    const budget = new ByteBudget(100);
    const [first, second] = [held(budget), held(budget)];
    await (await first.share).grow(60, unbounded);
    await (await second.share).grow(40, unbounded);
    const younger = (await second.share).grow(1, unbounded);
    await (await first.share).grow(1_000, unbounded);
    expect(await settled(younger)).toBe(false);
    first.end();
    await younger;
    second.end();
  });

  it('ends a wait with its signal, and forgets who waited', async () => {
    const budget = new ByteBudget(10);
    const first = held(budget);
    await (await first.share).grow(10, unbounded);
    const leaving = new AbortController();
    const waited = budget.during((share) => share.grow(1, leaving.signal));
    await turn();
    leaving.abort(new Error('late'));
    await expect(waited).rejects.toThrow('late');
    first.end();
    await turn();
    await budget.during((share) => share.grow(10, unbounded));
  });

  it('gives everything back when the work fails', async () => {
    const budget = new ByteBudget(10);
    const failing = budget.during(async (share) => {
      await share.grow(10, unbounded);
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    const next = held(budget);
    const another = held(budget);
    await (await next.share).grow(5, unbounded);
    await (await another.share).grow(5, unbounded);
    next.end();
    another.end();
  });
});
