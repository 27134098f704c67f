import { expect, it } from '@jest/globals';
import { eachInTurn } from './each-in-turn.ts';

it('acts on every item once, at most four at a time, and begins none after the signal', async () => {
  const aborting = new AbortController();
  let now = 0;
  let most = 0;
  const act = async (item: number) => {
    most = Math.max(most, (now += 1));
    await Promise.resolve();
    now -= 1;
    return item;
  };
  const items = Array.from({ length: 10 }, (_, at) => at);
  const onDone = (done: number) => {
    if (done === 9) aborting.abort();
  };
  const open = { signal: new AbortController().signal, onDone: () => {} };
  expect(new Set(await eachInTurn(items, act, open))).toEqual(new Set(items));
  expect(most).toBe(4);
  const many = [...items, ...items];
  expect((await eachInTurn(many, act, { signal: aborting.signal, onDone })).length).toBeLessThan(14);
});
