import { expect, it } from '@jest/globals';
import { Turns } from './turns.js';

/** Work that the test ends by name, and the order in which it began. */
function worksIn(turns: Turns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) =>
    turns.take(name.slice(0, 1), async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, work, end };
}

it('gives each free place to another key while one is waiting', async () => {
  const { begun, work, end } = worksIn(new Turns({ max: 1 }));
  const all = Promise.all(['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(work));
  const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'];
  for (const name of order) await end(name);
  await all;
  expect(begun).toEqual(order);
});

it('leaves a place free that no waiting key may take', async () => {
  const { begun, work, end } = worksIn(new Turns({ max: 2, maxOfOne: 1 }));
  const all = ['a1', 'a2', 'a3'].map(work);
  expect(begun).toEqual(['a1']);
  all.push(work('b1'));
  expect(begun).toEqual(['a1', 'b1']);
  for (const name of ['a1', 'b1', 'a2', 'a3']) await end(name);
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'b1', 'a2', 'a3']);
});

const refusal = () => new Error('busy');

it('rejects a key whose line is full, and work that has waited too long', async () => {
  const { work, end } = worksIn(new Turns({ max: 1, maxWaitingOfOne: 1, maxWaitMs: 20, refusal }));
  const running = work('a1');
  const waiting = work('a2');
  await expect(work('a3')).rejects.toThrow('busy');
  await expect(work('b1')).rejects.toThrow('busy');
  await expect(waiting).rejects.toThrow('busy');
  await end('a1');
  await running;
  const next = work('a4');
  await end('a4');
  await next;
});

it('skips work whose signal aborts while it waits', async () => {
  const turns = new Turns({ maxOfOne: 1 });
  const { begun, work, end } = worksIn(turns);
  const running = work('a1');
  const leaving = new AbortController();
  const waiting = turns.take('a', () => work('none'), leaving.signal);
  const next = work('a2');
  leaving.abort();
  await expect(waiting).rejects.toThrow('aborted');
  await expect(turns.take('b', () => work('none'), leaving.signal)).rejects.toThrow('aborted');
  await end('a1');
  await end('a2');
  await Promise.all([running, next]);
  expect(begun).toEqual(['a1', 'a2']);
});
