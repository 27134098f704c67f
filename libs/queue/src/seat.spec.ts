import { describe, expect, it } from '@jest/globals';
import { Seat } from './seat.js';

const seatFor = (concurrency: number) =>
  new Seat({ lane: 'dispatch', provider: 'fal', concurrency, handle: async () => ({ kind: 'done' }) }, 1_000);

const never = new AbortController().signal;

describe('a seat', () => {
  it('lets in as many as it has places, and the others in their order', async () => {
    const seat = seatFor(2);
    expect([await seat.enter(never), await seat.enter(never)]).toEqual([true, true]);
    const order: string[] = [];
    const third = seat.enter(never).then(() => order.push('third'));
    const fourth = seat.enter(never).then(() => order.push('fourth'));
    seat.exit();
    await third;
    expect(order).toEqual(['third']);
    seat.exit();
    await fourth;
    expect(order).toEqual(['third', 'fourth']);
    seat.exit();
    seat.exit();
    expect([await seat.enter(never), await seat.enter(never)]).toEqual([true, true]);
  });

  it('passes over who has given up', async () => {
    const seat = seatFor(1);
    await seat.enter(never);
    const impatient = new AbortController();
    const given = seat.enter(impatient.signal);
    const patient = seat.enter(never);
    impatient.abort();
    expect(await given).toBe(false);
    seat.exit();
    expect(await patient).toBe(true);
  });

  it('sends everybody away who waits when it leaves', async () => {
    const seat = seatFor(1);
    await seat.enter(never);
    const waiting = seat.enter(never);
    seat.leave();
    expect([await waiting, await seat.enter(never)]).toEqual([false, false]);
  });

  it('is full when its places and its waiting room are taken', () => {
    const seat = seatFor(2);
    for (let n = 0; n < 9; n += 1) seat.executions.start(`${n}`);
    expect(seat.full).toBe(false);
    seat.executions.start('9');
    expect(seat.full).toBe(true);
  });

  it('needs slots for its waiting room only in a lane that it shares', () => {
    expect([seatFor(3).slots(false), seatFor(3).slots(true)]).toEqual([3, 15]);
  });
});
