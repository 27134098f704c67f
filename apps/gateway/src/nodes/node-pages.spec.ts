import { RouterError } from '#errors';
import type { NodeReader } from '#persistence';
import type { RegistryNodeList } from '#schemas';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NodePages } from './node-pages.js';
import { parseNodeQuery } from './node-query.js';

type Page = Awaited<ReturnType<NodeReader['page']>>;

beforeEach(() => void jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

/** Pages of a registry whose answers the test gives by hand. The total of a page identifies its answer. */
function pagesOf({ bytes = 100_000 } = {}) {
  const waiting: { answer: (total: number, nodes?: Page['nodes']) => void; fail: (error: Error) => void }[] =
    [];
  const page = () => {
    const asOfMs = jest.now();
    return new Promise<Page>((resolve, reject) => {
      waiting.push({
        answer: (total, nodes = []) => resolve({ nodes, total, asOfMs }),
        fail: reject,
      });
    });
  };
  const pages = new NodePages({ page } as unknown as NodeReader, {
    REGISTRY_CACHE_SECONDS: 60,
    REGISTRY_CACHE_BYTES: bytes,
    REGISTRY_READS_PER_MINUTE: 6000,
    DATABASE_REGISTRY_POOL: 100,
  });
  const total = async (parameters: Record<string, string | string[]> = {}) => {
    const body = await pages.page(parseNodeQuery(parameters), 'a');
    return (JSON.parse(body.toString()) as RegistryNodeList).total;
  };
  return { total, waiting };
}

describe('NodePages', () => {
  it('reads a page once for concurrent callers, however they write the query', async () => {
    const { total, waiting } = pagesOf();
    const all = Promise.all([total({ limit: '0' }), total(), total({ 'sort[]': '' })]);
    const another = total({ page: '2' });
    expect(waiting).toHaveLength(2);
    waiting[0]?.answer(1);
    waiting[1]?.answer(2);
    expect([await all, await another]).toEqual([[1, 1, 1], 2]);
  });

  it('keeps a page for a minute, counted from the moment it was read', async () => {
    const { total, waiting } = pagesOf();
    const first = total();
    jest.advanceTimersByTime(5000);
    waiting[0]?.answer(1);
    await first;
    jest.advanceTimersByTime(54_999);
    expect(await total()).toBe(1);
    jest.advanceTimersByTime(2);
    const next = total();
    waiting[1]?.answer(2);
    expect(await next).toBe(2);
  });

  it('reports a failure to all waiting callers as the 500 of the registry, and does not cache it', async () => {
    const { total, waiting } = pagesOf();
    const all = Promise.allSettled([total(), total()]);
    waiting[0]?.fail(new RouterError('service_unavailable', 'Away.'));
    expect(await all).toMatchObject([
      { status: 'rejected', reason: { bucket: 'internal_error' } },
      { status: 'rejected', reason: { bucket: 'internal_error' } },
    ]);
    const next = total();
    waiting[1]?.answer(1);
    expect(await next).toBe(1);
  });

  it('reads the latest page for each caller that requests it, and leaves the cached one to the others', async () => {
    const { total, waiting } = pagesOf();
    const waits = total();
    const all = Promise.all([total({ latest: 'true' }), total({ latest: 'true' })]);
    expect(waiting).toHaveLength(3);
    for (const [index, { answer }] of waiting.entries()) answer(index);
    expect([await waits, await all, await total()]).toEqual([0, [1, 2], 0]);
  });

  it('evicts the least recently used page when it holds too many bytes', async () => {
    const { total, waiting } = pagesOf({ bytes: 2000 });
    const ask = async (id: string, bytes = 200) => {
      const page = total({ node_id: id });
      waiting.shift()?.answer(1, [{ description: 'x'.repeat(bytes) }]);
      return page;
    };
    const isKept = async (id: string) => {
      const page = total({ node_id: id });
      const read = waiting.shift();
      read?.answer(1);
      await page;
      return read === undefined;
    };
    await ask('a');
    await ask('b');
    expect(await isKept('a')).toBe(true);
    await ask('c');
    await ask('large', 5000);
    expect([await isKept('large'), await isKept('a'), await isKept('b')]).toEqual([false, true, false]);
  });
});
