import { RouterError } from '#errors';
import { describe, expect, it } from '@jest/globals';
import { type Groups, WorkspaceBatches } from './workspace-batches.js';

interface Item {
  workspaceId: string;
  bytes: number;
  name: string;
}

const item = (name: string, workspaceId = 'one'): Item => ({ name, workspaceId, bytes: 0 });
const namesOf = (groups: Groups<Item>) => groups.flatMap(([, items]) => items.map(({ name }) => name));
const echo = (groups: Groups<Item>) => groups.map(([, items]) => items.map(({ name }) => name));
const away = new RouterError('service_unavailable', 'The database is away.');

/** Batches whose first call fails when it is told to; the others answer with the names of their items. */
function batches(patienceMs: number) {
  const calls: string[][] = [];
  const failing: { now?: () => void } = {};
  const first = new Promise<never>((_, reject) => (failing.now = () => reject(away)));
  const line = new WorkspaceBatches<Item, string>({
    patienceMs,
    send: async (groups) => {
      calls.push(namesOf(groups));
      return calls.length === 1 ? first : echo(groups);
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
    send: async (groups) =>
      groups.map(([, items]) => items.map(({ name }) => (name === 'bad' ? refused : name))),
  });
  const all = await Promise.allSettled(['a', 'bad', 'c'].map((name) => line.add(item(name))));
  expect(all.map((each) => (each.status === 'rejected' ? each.reason : each.value))).toEqual([
    'a',
    refused,
    'c',
  ]);
});

it('groups come in the order of their workspaces, so that no two processes wait for each other', async () => {
  const orders: string[][] = [];
  const line = new WorkspaceBatches<Item, string>({
    patienceMs: 0,
    send: async (groups) => {
      orders.push(groups.map(([workspaceId]) => workspaceId));
      return echo(groups);
    },
  });
  await Promise.all(['x', 'c', 'a', 'b', 'a'].map((id, index) => line.add(item(String(index), id))));
  expect(orders).toEqual([['x'], ['a', 'b', 'c']]);
});
