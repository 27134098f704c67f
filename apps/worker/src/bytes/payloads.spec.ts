import { describe, expect, it } from '@jest/globals';
import { setMaxListeners } from 'node:events';
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

const mebibyte = 1024 * 1024;

describe('a byte budget', () => {
  it('makes a body wait until others of its workspace release their bytes', async () => {
    const budget = new ByteBudget(100 * mebibyte);
    const [first, second] = [budget.open('a'), budget.open('a')];
    await first.grow(40 * mebibyte, unbounded);
    const waiting = second.grow(20 * mebibyte, unbounded);
    expect(await settled(waiting)).toBe(false);
    first.shrink(10 * mebibyte);
    expect(await settled(waiting)).toBe(true);
    first[Symbol.dispose]();
    second[Symbol.dispose]();
  });

  it('has room for another workspace, however much one wants', async () => {
    const budget = new ByteBudget(256 * mebibyte);
    const streams = Array.from({ length: 20 }, () => budget.open('a'));
    const leaving = new AbortController();
    setMaxListeners(streams.length, leaving.signal);
    const grown = streams.map(async (share) => {
      for (let at = 0; at < 13; at += 1) await share.grow(mebibyte, leaving.signal);
    });
    const all = Promise.allSettled(grown);
    expect(await settled(all)).toBe(false);
    using other = budget.open('b');
    expect(await settled(other.grow(10 * mebibyte, unbounded))).toBe(true);
    leaving.abort(new Error('enough'));
    await all;
    for (const share of streams) share[Symbol.dispose]();
  });

  it('never makes a small body wait, not even one of the workspace that holds most', async () => {
    const budget = new ByteBudget(mebibyte);
    using first = budget.open('a');
    await first.grow(10 * mebibyte, unbounded);
    for (const workspaceId of ['a', 'b']) {
      using small = budget.open(workspaceId);
      expect(await settled(small.grow(64 * 1024, unbounded))).toBe(true);
      const leaving = new AbortController();
      const waiting = small.grow(1, leaving.signal);
      expect(await settled(waiting)).toBe(false);
      leaving.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
    }
  });

  it('gives the oldest body of a workspace all that is left, so that each workspace goes on', async () => {
    const budget = new ByteBudget(100 * mebibyte);
    using oldest = budget.open('a');
    await oldest.grow(10 * mebibyte, unbounded);
    const [first, second] = [budget.open('b'), budget.open('b')];
    await first.grow(30 * mebibyte, unbounded);
    expect(await settled(first.grow(60 * mebibyte, unbounded))).toBe(true);
    const leaving = new AbortController();
    const more = first.grow(mebibyte, leaving.signal);
    const younger = second.grow(mebibyte, unbounded);
    expect([await settled(more), await settled(younger)]).toEqual([false, false]);
    leaving.abort(new Error('enough'));
    await expect(more).rejects.toThrow('enough');
    first[Symbol.dispose]();
    await younger;
    second[Symbol.dispose]();
  });

  it('never makes the oldest body wait, so that one always finishes', async () => {
    const budget = new ByteBudget(100 * mebibyte);
    const [first, second] = [budget.open('a'), budget.open('b')];
    await first.grow(40 * mebibyte, unbounded);
    await second.grow(30 * mebibyte, unbounded);
    await first.grow(1_000 * mebibyte, unbounded);
    const younger = second.grow(1, unbounded);
    expect(await settled(younger)).toBe(false);
    first[Symbol.dispose]();
    await younger;
    second[Symbol.dispose]();
  });

  it('ends a wait when its signal aborts, and forgets the waiting body', async () => {
    const budget = new ByteBudget(10 * mebibyte);
    const first = budget.open('a');
    await first.grow(10 * mebibyte, unbounded);
    const leaving = new AbortController();
    const second = budget.open('a');
    const waited = second.grow(mebibyte, leaving.signal);
    leaving.abort(new Error('late'));
    await expect(waited).rejects.toThrow('late');
    second[Symbol.dispose]();
    first[Symbol.dispose]();
    using third = budget.open('a');
    await third.grow(10 * mebibyte, unbounded);
  });

  it('releases everything when the work fails', async () => {
    const budget = new ByteBudget(10 * mebibyte);
    const failing = async () => {
      using share = budget.open('a');
      await share.grow(10 * mebibyte, unbounded);
      throw new Error('failed');
    };
    await expect(failing()).rejects.toThrow('failed');
    const [next, another] = [budget.open('a'), budget.open('b')];
    await next.grow(3 * mebibyte, unbounded);
    await another.grow(3 * mebibyte, unbounded);
  });
});
