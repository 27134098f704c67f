import { describe, expect, it } from '@jest/globals';
import { PageCache } from './page-cache.js';

const body = (text: string) => Buffer.from(text);

function cacheAt(mostBytes = 10_000) {
  const clock = { ms: 0 };
  return { clock, cache: new PageCache(60_000, mostBytes, () => clock.ms) };
}

/** A maker that ends when told to, and counts. */
function slowMaker(text: string) {
  const waiting: ((made: Buffer) => void)[] = [];
  return {
    make: () => new Promise<Buffer>((resolve) => void waiting.push(resolve)),
    end: () => waiting.splice(0).forEach((resolve) => resolve(body(text))),
    get calls() {
      return waiting.length;
    },
  };
}

const failing = () => Promise.reject(new Error('away'));

describe('PageCache', () => {
  it('lets one caller make a body while the others wait for it', async () => {
    const { cache } = cacheAt();
    const maker = slowMaker('a');
    const all = Promise.all([1, 2, 3].map(() => cache.get('x', maker.make)));
    const other = slowMaker('b');
    const another = cache.get('y', other.make);
    expect([maker.calls, other.calls]).toEqual([1, 1]);
    maker.end();
    other.end();
    expect((await all).map(String)).toEqual(['a', 'a', 'a']);
    expect(String(await another)).toBe('b');
  });

  it('keeps a body for its life, counted from before it was read', async () => {
    const { cache, clock } = cacheAt();
    const maker = slowMaker('old');
    const first = cache.get('x', maker.make);
    clock.ms = 5000;
    maker.end();
    await first;
    clock.ms = 59_999;
    expect(String(await cache.get('x', async () => body('new')))).toBe('old');
    clock.ms = 60_000;
    expect(String(await cache.get('x', async () => body('new')))).toBe('new');
  });

  it('tells a failure to all who wait, and keeps none', async () => {
    const { cache } = cacheAt();
    const all = await Promise.allSettled([cache.get('x', failing), cache.get('x', failing)]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(String(await cache.get('x', async () => body('there')))).toBe('there');
  });

  it('renews a body for everybody, and never with an older one', async () => {
    const { cache, clock } = cacheAt();
    const slow = slowMaker('older');
    const late = cache.renew('x', slow.make);
    clock.ms = 10;
    await cache.renew('x', async () => body('newer'));
    slow.end();
    expect(String(await late)).toBe('older');
    expect(String(await cache.get('x', async () => body('none')))).toBe('newer');
  });

  it('forgets what was not asked for longest when it holds too many bytes', async () => {
    const { cache } = cacheAt(1000);
    const made: string[] = [];
    const ask = (key: string) =>
      cache.get(key, async () => {
        made.push(key);
        return Buffer.alloc(200);
      });
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(key);
    expect(made).toEqual(['a', 'b', 'c', 'b']);
    await cache.get('large', async () => Buffer.alloc(5000));
    await ask('a');
    expect(made).toEqual(['a', 'b', 'c', 'b', 'a']);
  });
});
