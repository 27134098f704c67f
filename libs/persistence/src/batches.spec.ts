import { EventEmitter, once } from 'node:events';
import { RouterError } from '#errors';
import { describe, expect, it } from '@jest/globals';
import { Batches, workspaceResults, workspaceRows } from './batches.js';

/** Doubles numbers and records what it was sent. `special` overrides the result of some. */
function doubling(
  special: (item: number, waits: boolean) => number | Error | undefined = (item) => item * 2,
) {
  const sent: { items: readonly number[]; waits: boolean }[] = [];
  const batches = new Batches<number, number>(async (items, waits) => {
    sent.push({ items, waits });
    return items.map((item) => special(item, waits));
  });
  return { double: (item: number) => batches.add(item), sent };
}

describe('items of one turn of the event loop', () => {
  it('are sent together and get their own results', async () => {
    const { double, sent } = doubling();
    expect(await Promise.all([double(1), double(2), double(2)])).toEqual([2, 4, 4]);
    expect(await double(5)).toBe(10);
    expect(sent).toEqual([
      { items: [1, 2, 2], waits: false },
      { items: [5], waits: true },
    ]);
  });

  it('may have null as their result', async () => {
    const sent: number[] = [];
    const batches = new Batches(async (items: readonly number[]) => {
      sent.push(items.length);
      return items.map(() => null);
    });
    expect(await Promise.all([batches.add(1), batches.add(2)])).toEqual([null, null]);
    expect(sent).toEqual([2]);
  });

  it('are sent at most fifty at a time, and no batch waits for another', async () => {
    const sent: number[] = [];
    const answered = new EventEmitter();
    const all = once(answered, 'all');
    const batches = new Batches(async (items: readonly number[]) => {
      sent.push(items.length);
      if (sent.length === 3) answered.emit('all');
      await all;
      return [...items];
    });
    await Promise.all(Array.from({ length: 120 }, (_each, nth) => batches.add(nth)));
    expect(sent).toEqual([50, 50, 20]);
  });

  it('wait alone for a locked row and do not delay the others', async () => {
    const lock = new EventEmitter();
    const freed = once(lock, 'free');
    const batches = new Batches(async (items: readonly number[], waits) => {
      if (waits) await freed;
      return items.map((item) => (waits || item !== 2 ? item * 2 : undefined));
    });
    const locked = batches.add(2);
    expect(await Promise.all([batches.add(1), batches.add(3)])).toEqual([2, 6]);
    lock.emit('free');
    expect(await locked).toBe(4);
  });

  it('fail alone if they are invalid', async () => {
    const { double } = doubling((item) => {
      if (item === 2) throw new Error('two is wrong');
      return item * 2;
    });
    const results = await Promise.allSettled([double(1), double(2), double(3)]);
    expect(results).toMatchObject([{ value: 2 }, { reason: { message: 'two is wrong' } }, { value: 6 }]);
  });

  it('are not sent again after the database was unavailable', async () => {
    const { double, sent } = doubling(() => {
      throw new RouterError('service_unavailable', 'The service is temporarily unavailable.');
    });
    const results = await Promise.allSettled([double(1), double(2)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(sent).toHaveLength(1);
  });

  it('fail if a waiting statement returns no result for them', async () => {
    const { double } = doubling(() => undefined);
    await expect(double(1)).rejects.toThrow(
      'a statement that waits for locks returned no result for an item',
    );
  });
});

interface Item {
  workspaceId: string;
  bytes: number;
  name: string;
}

const item = (name: string, workspaceId = 'one', bytes = 0): Item => ({ name, workspaceId, bytes });
const namesOf = (items: readonly Item[]) => items.map(({ name }) => name);

describe('items under the locks of workspaces', () => {
  const away = new RouterError('service_unavailable', 'The database is unreachable.');

  /** Batches whose first call can be made to fail. The other calls return the names of their items. */
  function failing(patienceMs: number) {
    const calls: string[][] = [];
    const first = new EventEmitter();
    const failed = once(first, 'fail').then(() => {
      throw away;
    });
    const line = new Batches<Item, string>(async (items) => {
      calls.push(namesOf(items));
      return calls.length === 1 ? failed : namesOf(items);
    }, workspaceRows(patienceMs));
    return { line, calls, fail: () => first.emit('fail') };
  }

  it('are sent together while a call is in flight, up to 4 MiB', async () => {
    const calls: string[][] = [];
    const line = new Batches<Item, string>(async (items) => {
      calls.push(namesOf(items));
      return namesOf(items);
    }, workspaceRows(0));
    const mib = 1024 * 1024;
    await Promise.all(
      [1, 1, 3, 5, 1, 1].map((count, nth) => line.add(item(`${nth}`, `${nth}`, count * mib))),
    );
    expect(calls).toEqual([['0'], ['1', '2'], ['3'], ['4', '5']]);
  });

  it('fail at once while the database is down, without patience', async () => {
    const { line, calls, fail } = failing(0);
    const all = ['first', 'second', 'third'].map((name) => line.add(item(name)));
    fail();
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    expect(calls).toEqual([['first']]);
    expect(await line.add(item('later'))).toBe('later');
  });

  it('stay in line while the database is down, until they have waited long enough', async () => {
    const { line, calls, fail } = failing(60_000);
    const all = ['first', 'second', 'third'].map((name) => line.add(item(name)));
    fail();
    const settled = await Promise.allSettled(all);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(calls).toEqual([['first'], ['second', 'third']]);
  });

  it('fail alone, and the others get their results', async () => {
    const refused = new Error('refused');
    const line = new Batches<Item, string>(
      async (items) => items.map(({ name }) => (name === 'bad' ? refused : name)),
      workspaceRows(0),
    );
    const all = await Promise.allSettled(['a', 'bad', 'c'].map((name) => line.add(item(name))));
    expect(all.map((each) => (each.status === 'rejected' ? each.reason : each.value))).toEqual([
      'a',
      refused,
      'c',
    ]);
  });

  it('of a locked workspace wait apart from the others, together with later ones', async () => {
    const calls: [names: string[], waits: boolean][] = [];
    const line = new Batches<Item, string>(async (items, waits) => {
      calls.push([namesOf(items), waits]);
      if (calls.length === 2) all.push(line.add(item('meanwhile', 'locked')));
      return items.map(({ name, workspaceId }) => (workspaceId === 'locked' && !waits ? undefined : name));
    }, workspaceRows(0));
    const all = ['free', 'free', 'locked', 'free', 'locked'].map((id, nth) =>
      line.add(item(`${id} ${nth}`, id)),
    );
    const names = ['free 0', 'free 1', 'locked 2', 'free 3', 'locked 4'];
    expect(await Promise.all(all)).toEqual(names);
    expect(await all[5]).toBe('meanwhile');
    expect(calls).toEqual([
      [['free 0'], false],
      [['free 1', 'locked 2', 'free 3', 'locked 4'], false],
      [['locked 2', 'locked 4', 'meanwhile'], true],
    ]);
  });

  it('of a missing workspace are rejected', async () => {
    const line = new Batches<Item, string>(
      async (items, waits) => workspaceResults([{ results: items.map((): string | null => null) }], waits),
      workspaceRows(0),
    );
    await expect(line.add(item('any'))).rejects.toMatchObject({
      bucket: 'unauthorized',
      status: 401,
      internal: 'the workspace does not exist',
    });
  });
});
