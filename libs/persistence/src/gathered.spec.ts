import { EventEmitter, once } from 'node:events';
import { RouterError } from '#errors';
import { expect, it } from '@jest/globals';
import { gathered } from './gathered.js';

/** Doubles numbers, and keeps what it was sent. `send` may be told otherwise for some of them. */
function doubling(special: (item: number, waits: boolean) => number | undefined = (item) => item * 2) {
  const sent: { items: readonly number[]; waits: boolean }[] = [];
  const double = gathered(async (items: readonly number[], waits) => {
    sent.push({ items, waits });
    return items.map((item) => special(item, waits));
  });
  return { double, sent };
}

it('sends what is requested in one turn together, each answered for itself', async () => {
  const { double, sent } = doubling();
  expect(await Promise.all([double(1), double(2), double(2)])).toEqual([2, 4, 4]);
  expect(await double(5)).toBe(10);
  expect(sent).toEqual([
    { items: [1, 2, 2], waits: false },
    { items: [5], waits: true },
  ]);
});

it('takes null for an answer', async () => {
  const sent: number[] = [];
  const find = gathered(async (items: readonly number[]) => {
    sent.push(items.length);
    return items.map(() => null);
  });
  expect(await Promise.all([find(1), find(2)])).toEqual([null, null]);
  expect(sent).toEqual([2]);
});

it('sends at most fifty together', async () => {
  const { double, sent } = doubling();
  await Promise.all(Array.from({ length: 120 }, (_each, nth) => double(nth)));
  expect(sent.map(({ items }) => items.length)).toEqual([50, 50, 20]);
});

it('lets one whose row is locked wait alone, and holds nobody up for it', async () => {
  const lock = new EventEmitter();
  const freed = once(lock, 'free');
  const double = gathered(async (items: readonly number[], waits) => {
    if (waits) await freed;
    return items.map((item) => (waits || item !== 2 ? item * 2 : undefined));
  });
  const locked = double(2);
  expect(await Promise.all([double(1), double(3)])).toEqual([2, 6]);
  lock.emit('free');
  expect(await locked).toBe(4);
});

it('lets the one that is wrong fail alone', async () => {
  const { double } = doubling((item) => {
    if (item === 2) throw new Error('two is wrong');
    return item * 2;
  });
  const results = await Promise.allSettled([double(1), double(2), double(3)]);
  expect(results).toMatchObject([{ value: 2 }, { reason: { message: 'two is wrong' } }, { value: 6 }]);
});

it('does not repeat what failed because the database is away', async () => {
  const { double, sent } = doubling(() => {
    throw new RouterError('service_unavailable', 'The service is temporarily unavailable.');
  });
  const results = await Promise.allSettled([double(1), double(2)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(sent).toHaveLength(1);
});
