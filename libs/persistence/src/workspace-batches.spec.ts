import { RouterError } from '#errors';
import { describe, expect, it } from '@jest/globals';
import { WorkspaceBatches } from './workspace-batches.js';

interface Item {
  workspaceId: string;
  bytes: number;
  name: string;
}

const item = (name: string, workspaceId = 'one'): Item => ({ name, workspaceId, bytes: 0 });
const namesOf = (items: Item[]) => items.map(({ name }) => name);
const away = new RouterError('service_unavailable', 'The database is away.');

/** Batches whose first call fails when it is told to; the others answer with the names of their items. */
function batches(patienceMs: number) {
  const calls: string[][] = [];
  const failing: { now?: () => void } = {};
  const first = new Promise<never>((_, reject) => (failing.now = () => reject(away)));
  const line = new WorkspaceBatches<Item, string>({
    patienceMs,
    send: async (items) => {
      calls.push(namesOf(items));
      return calls.length === 1 ? first : namesOf(items);
    },
  });
  return { line, calls, fail: () => failing.now?.() };
}

describe('a database that is away', () => {
  it('fails at once all who are in line, when none has patience', async () => {
    const { line, calls, fail } = batches(0);
    const all = ['first', 'second', 'third'].map((name) => line.add(item(name)));
    fail();
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    expect(calls).toEqual([['first']]);
    expect(await line.add(item('later'))).toBe('later');
  });

  it('leaves in line who has not waited for long', async () => {
    const { line, calls, fail } = batches(60_000);
    const all = ['first', 'second', 'third'].map((name) => line.add(item(name)));
    fail();
    const settled = await Promise.allSettled(all);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(calls).toEqual([['first'], ['second', 'third']]);
  });
});

it('an item that fails alone is told so, and the others their results', async () => {
  const refused = new Error('refused');
  const line = new WorkspaceBatches<Item, string>({
    patienceMs: 0,
    send: async (items) => items.map(({ name }) => (name === 'bad' ? refused : name)),
  });
  const all = await Promise.allSettled(['a', 'bad', 'c'].map((name) => line.add(item(name))));
  expect(all.map((each) => (each.status === 'rejected' ? each.reason : each.value))).toEqual([
    'a',
    refused,
    'c',
  ]);
});

it('who finds a workspace locked waits for it without the others, with those who come after', async () => {
  const calls: [names: string[], waits: boolean][] = [];
  const line = new WorkspaceBatches<Item, string>({
    patienceMs: 0,
    send: async (items, waits) => {
      calls.push([namesOf(items), waits]);
      if (calls.length === 2) all.push(line.add(item('meanwhile', 'locked')));
      return items.map(({ name, workspaceId }) => (workspaceId === 'locked' && !waits ? null : name));
    },
  });
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

it('tells who waits for a workspace that is not there', async () => {
  const line = new WorkspaceBatches<Item, string>({
    patienceMs: 0,
    send: async (items) => items.map(() => null),
  });
  await expect(line.add(item('any'))).rejects.toMatchObject({
    bucket: 'unauthorized',
    status: 401,
    internal: 'a workspace is not there',
  });
});
