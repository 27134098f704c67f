import { describe, expect, it } from '@jest/globals';
import { ProviderSlots, type Slot } from './provider-slots.js';

function clock() {
  let nowMs = 0;
  return { now: () => nowMs, pass: (ms: number) => (nowMs += ms) };
}

const done = { kind: 'done' };
const { signal } = new AbortController();

const fill = (slots: ProviderSlots, provider: string): Slot[] => {
  const held: Slot[] = [];
  for (let slot = slots.acquire(provider); slot; slot = slots.acquire(provider)) held.push(slot);
  return held;
};

describe('concurrency slots', () => {
  it('are as many as each provider may have, whatever another one holds', () => {
    const slots = new ProviderSlots(3);
    expect(fill(slots, 'hanging')).toHaveLength(3);
    expect(slots.acquire('hanging')).toBeNull();
    expect(fill(slots, 'healthy')).toHaveLength(3);
  });

  it('are free again once they are given back, and one that is given back twice counts once', () => {
    const slots = new ProviderSlots(2);
    const [first] = fill(slots, 'p');
    first?.release();
    first?.release();
    expect(fill(slots, 'p')).toHaveLength(1);
  });

  it('are given up to a lower limit', () => {
    const slots = new ProviderSlots(4);
    expect(slots.acquire('p', 1)).not.toBeNull();
    expect(slots.acquire('p', 1)).toBeNull();
    expect(slots.acquire('p', 2)).not.toBeNull();
  });

  it('are counted by workspace once that is known', () => {
    const slots = new ProviderSlots(4);
    const [one, two, three] = fill(slots, 'p');
    for (const slot of [one, two]) if (slot) slot.workspaceId = 'a';
    if (three) three.workspaceId = 'b';
    expect(slots.held('p')).toEqual({
      byWorkspace: new Map([
        ['a', 2],
        ['b', 1],
      ]),
      unknown: 1,
    });
    two?.release();
    expect(slots.held('p').byWorkspace.get('a')).toBe(1);
  });
});

describe('a job that found no slot', () => {
  it('waits for the next one where that is to be expected soon, each in turn', async () => {
    const totals: number[] = [];
    const slots = new ProviderSlots(1, (held) => totals.push(held));
    const order: string[] = [];
    const work = (name: string) =>
      slots.during('p', signal, async () => {
        order.push(name);
        return { kind: 'done' };
      });
    expect(await Promise.all([work('first'), work('second'), work('third')])).toEqual([done, done, done]);
    expect(order).toEqual(['first', 'second', 'third']);
    expect(totals).toEqual([1, 0, 1, 0, 1, 0]);
  });

  it('comes again later where slots have been held for long, without a wait', async () => {
    const time = clock();
    const slots = new ProviderSlots(1, undefined, time.now);
    const held = fill(slots, 'p');
    time.pass(1_000);
    expect(await slots.during('p', signal, () => Promise.reject(new Error('it has no slot')))).toMatchObject({
      kind: 'retry',
    });
    held[0]?.release();
  });

  it('goes back without its work when it was aborted', async () => {
    const slots = new ProviderSlots(1);
    expect(
      await slots.during('p', AbortSignal.abort(), () => Promise.reject(new Error('it was aborted'))),
    ).toEqual({ kind: 'retry', delayMs: 0 });
    expect(fill(slots, 'p')).toHaveLength(1);
  });

  it('comes again when the wait was in vain', async () => {
    const slots = new ProviderSlots(1);
    fill(slots, 'p');
    expect(await slots.during('p', signal, () => Promise.reject(new Error('it has no slot')))).toMatchObject({
      kind: 'retry',
    });
  });

  it('comes again later the more others wait, and within 5 s', () => {
    const time = clock();
    const slots = new ProviderSlots(2, undefined, time.now);
    fill(slots, 'p');
    time.pass(1_000);
    const delaysMs = Array.from({ length: 40 }, () => slots.retryDelayMs('p'));
    expect(Math.min(...delaysMs)).toBeGreaterThan(0);
    expect(delaysMs[8]).toBeGreaterThan(delaysMs[0] ?? Infinity);
    expect(delaysMs.at(-1)).toBeGreaterThan(3_000);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(5_000);
  });

  it('comes again at once where slots are held for a moment only', () => {
    const time = clock();
    const slots = new ProviderSlots(2, undefined, time.now);
    fill(slots, 'p');
    time.pass(10);
    expect(slots.retryDelayMs('p')).toBeLessThanOrEqual(100);
  });
});
