import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { type AssetStore, fileKey, ownedObjects, runKeys } from '#storage';
import type { StorageFailure } from '../../libs/storage/src/port.js';
import { waitFor } from '../harness/index.js';
import { endless, failing, inChunks, silentAfter, still, weighed } from './bodies.js';

export interface Side {
  store: AssetStore;
  /** The keys that begin with the prefix, read without the store. */
  keys(prefix: string): Promise<string[]>;
  /** Leaves what a process leaves that is killed in the middle of a put. */
  leaveUnfinished(): Promise<void>;
  /** A store whose service cannot be reached. */
  unreachable(): Promise<AssetStore>;
  close(): Promise<void>;
}

const megabyte = 1024 * 1024;
const png = { mediaType: 'image/png' };
const hour = { expiresInSeconds: 3600 };
const signal = () => AbortSignal.timeout(120_000);
const failure = (reason: StorageFailure) =>
  expect.objectContaining({ name: 'StorageError', failure: reason });

/** The guarantees of both implementations of the port. `listed` is more keys than a page of a listing holds. */
export function assetStoreSuite(open: () => Promise<Side>, { listed }: { listed: number }): void {
  let side: Side;
  let store: AssetStore;
  const read = async (key: string) => {
    const { mediaType, bytes, body } = await store.get(key, signal());
    return { mediaType, bytes, body: await buffer(body) };
  };
  const expectNothingLeft = async (prefix: string) => {
    expect(await side.keys(prefix)).toEqual([]);
    expect(await store.abortStale(Date.now() + 60_000, signal())).toBe(0);
  };

  beforeAll(async () => {
    side = await open();
    store = side.store;
  });
  afterAll(() => side.close());

  describe('put and get', () => {
    it('return the bytes, their number and the media type', async () => {
      const stored = await store.put('small/a.txt', Buffer.from('hello'), {
        mediaType: 'text/plain; charset=utf-8',
        signal: signal(),
      });
      expect(stored).toBe(5);
      expect(await read('small/a.txt')).toEqual({
        mediaType: 'text/plain; charset=utf-8',
        bytes: 5,
        body: Buffer.from('hello'),
      });
    });

    it('keep an empty body', async () => {
      await store.put('small/empty', Buffer.alloc(0), { ...png, signal: signal() });
      expect(await read('small/empty')).toEqual({ ...png, bytes: 0, body: Buffer.alloc(0) });
    });

    it('stream 20 MB in uneven chunks', async () => {
      const bytes = randomBytes(20 * megabyte + 7);
      const stored = await store.put('large/20mb', inChunks(bytes, 100_003), { ...png, signal: signal() });
      expect(stored).toBe(bytes.length);
      const found = await read('large/20mb');
      expect(found.bytes).toBe(bytes.length);
      expect(found.body.equals(bytes)).toBe(true);
    });

    it('replace an existing object', async () => {
      await store.put('replaced', Buffer.from('old, and longer'), { ...png, signal: signal() });
      await store.put('replaced', Buffer.from('new'), { mediaType: 'image/webp', signal: signal() });
      expect(await read('replaced')).toEqual({ mediaType: 'image/webp', bytes: 3, body: Buffer.from('new') });
    });

    it('show one whole body if two puts overlap', async () => {
      const [one, other] = [Buffer.alloc(megabyte, 1), Buffer.alloc(megabyte, 2)];
      await Promise.all(
        [one, other].map((body) => store.put('met', inChunks(body, 50_000), { ...png, signal: signal() })),
      );
      const { body } = await read('met');
      expect(body.equals(one) || body.equals(other)).toBe(true);
    });

    it('report a missing object', async () => {
      await expect(store.get('nothing/here', signal())).rejects.toEqual(failure('not_found'));
    });

    it('end a body when the signal aborts', async () => {
      await store.put('cut', Buffer.alloc(8 * megabyte, 1), { ...png, signal: signal() });
      const leaving = new AbortController();
      const { body } = await store.get('cut', leaving.signal);
      const reading = buffer(body);
      leaving.abort();
      await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    });
  });

  describe('a put that does not succeed leaves nothing', () => {
    it.each([
      ['before it begins', 0],
      ['in a short body', 1000],
      ['in a long body', 20 * megabyte],
    ])('when the signal aborts it %s', async (where, bytes) => {
      const leaving = new AbortController();
      const reason = new Error(`left ${where}`);
      const body = silentAfter(bytes, () => leaving.abort(reason));
      const putting = store.put('left/signal', body, { ...png, signal: leaving.signal });
      await expect(putting).rejects.toBe(reason);
      await expectNothingLeft('left/');
    });

    it('when the signal has already aborted', async () => {
      const reason = new Error('gone before');
      const put = store.put('left/early', still('x'), { ...png, signal: AbortSignal.abort(reason) });
      await expect(put).rejects.toBe(reason);
      await expectNothingLeft('left/');
    });

    it.each([
      ['short', 1000],
      ['long', 20 * megabyte],
    ])('when a %s body fails, and throws the body’s own error', async (_name, bytes) => {
      const error = new Error('the provider hung up');
      const put = store.put('left/body', failing(bytes, error), { ...png, signal: signal() });
      await expect(put).rejects.toBe(error);
      await expectNothingLeft('left/');
    });

    it.each([
      ['short', 1000],
      ['long', 17 * megabyte],
    ])('when it exceeds its limit: %s', async (_name, maxBytes) => {
      const { body, closed } = endless();
      const put = store.put('left/limit', body, { ...png, signal: signal(), maxBytes });
      await expect(put).rejects.toEqual(failure('too_large'));
      await expectNothingLeft('left/');
      await waitFor(closed, { withinMs: 20_000, what: 'the body to be closed' });
    });

    it('but a body of exactly the limit is stored', async () => {
      const stored = await store.put('exact', Buffer.alloc(1000), {
        ...png,
        signal: signal(),
        maxBytes: 1000,
      });
      expect(stored).toBe(1000);
    });

    it('and keeps the existing object', async () => {
      await store.put('kept', Buffer.from('first'), { ...png, signal: signal() });
      const error = new Error('no second');
      await expect(store.put('kept', failing(10, error), { ...png, signal: signal() })).rejects.toBe(error);
      expect((await read('kept')).body.toString()).toBe('first');
    });
  });

  it('deletes an object, whether or not it exists', async () => {
    const keys = ['gone/a', 'gone/b/c', 'gone/never'];
    for (const key of keys.slice(0, 2)) await store.put(key, still(key), { ...png, signal: signal() });
    await store.delete(keys, signal());
    await store.delete(keys, signal());
    expect(await side.keys('gone/')).toEqual([]);
    await expect(store.get('gone/a', signal())).rejects.toEqual(failure('not_found'));
  });

  it('lists a folder over several pages', async () => {
    const keys = Array.from({ length: listed }, (_, index) => `list/run-${index % 7}/${index}.png`);
    const waiting = ['list/a.txt', ...keys, 'list-b', 'lis/t'].values();
    const putInTurn = async () => {
      for (const key of waiting) await store.put(key, still('x'), { ...png, signal: signal() });
    };
    const beganMs = Date.now();
    await Promise.all(Array.from({ length: 8 }, putInTurn));
    const found: string[] = [];
    for await (const { key, bytes, storedAtMs } of store.list('list/', signal())) {
      found.push(key);
      expect(bytes).toBe(1);
      // Services round to whole seconds.
      expect(storedAtMs).toBeGreaterThan(beganMs - 1_000);
      expect(storedAtMs).toBeLessThan(Date.now() + 1_000);
    }
    expect(found.sort()).toEqual(['list/a.txt', ...keys].sort());
  });

  it('knows the owner of an object, and skips foreign objects', async () => {
    const id = randomUUID();
    const owned = [runKeys.input(id), runKeys.asset(id, 0, '.png'), fileKey(id, '.tar'), fileKey(id, '')];
    const keys = [...owned, 'runs/none/input', 'files/none.png', `backups/${id}/input`];
    for (const key of keys) await store.put(key, still('x'), { ...png, signal: signal() });
    const found = new Map<string, string>();
    for await (const { key, ownerId } of ownedObjects(store, signal())) found.set(key, ownerId);
    expect(found).toEqual(new Map(owned.map((key) => [key, id])));
    await store.delete(keys, signal());
  });

  describe('a signed URL', () => {
    it('opens without credentials', async () => {
      await store.put('signed/a.png', Buffer.from('picture'), { ...png, signal: signal() });
      const url = await store.sign('signed/a.png', { ...hour, nowMs: Date.now() });
      expect(await answerTo(url)).toEqual({ status: 200, type: 'image/png', text: 'picture' });
    });

    it('does not open if it has expired, was altered, or names another key', async () => {
      await store.put('signed/b.png', Buffer.from('secret'), { ...png, signal: signal() });
      const url = await store.sign('signed/b.png', { ...hour, nowMs: Date.now() });
      const late = await store.sign('signed/b.png', { ...hour, nowMs: Date.now() - 3_601_000 });
      const other = await store.sign('signed/a.png', { ...hour, nowMs: Date.now() });
      const forged = [
        late,
        other.replace('/a.png', '/b.png'),
        url.replace(
          /(expires=|Expires=)(\d)/i,
          (_all, name: string, digit: string) => `${name}${+digit + 1}`,
        ),
        url.replace(
          /(signature=)(.)/i,
          (_all, name: string, first: string) => name + (first === '1' ? '2' : '1'),
        ),
        url.replace(/\?.*/, ''),
      ];
      for (const wrong of forged) {
        const answer = await answerTo(wrong);
        expect([400, 403, 404]).toContain(answer.status);
        expect(answer.text).not.toContain('secret');
      }
    });

    it('is valid for at most seven days', async () => {
      const signing = store.sign('signed/a.png', { expiresInSeconds: 7 * 86_400 + 1, nowMs: 0 });
      await expect(signing).rejects.toBeInstanceOf(RangeError);
    });
  });

  it.each([
    '',
    '/a',
    'a/',
    'a//b',
    '../a',
    'a/../b',
    'a/..',
    './a',
    '.a',
    'a b',
    'a\\b',
    'ä',
    'a~b',
    'a?b',
    'a\0',
    'a'.repeat(513),
  ])('rejects the key %j', async (key) => {
    const bad = failure('bad_key');
    await expect(store.put(key, still('x'), { ...png, signal: signal() })).rejects.toEqual(bad);
    await expect(store.get(key, signal())).rejects.toEqual(bad);
    await expect(store.delete([key], signal())).rejects.toEqual(bad);
    await expect(store.sign(key, { expiresInSeconds: 60, nowMs: 0 })).rejects.toEqual(bad);
  });

  it('removes what killed processes left, and nothing newer', async () => {
    await side.leaveUnfinished();
    expect(await store.abortStale(Date.now() - 3_600_000, signal())).toBe(0);
    expect(await store.abortStale(Date.now() + 3_600_000, signal())).toBe(1);
    expect(await store.abortStale(Date.now() + 3_600_000, signal())).toBe(0);
  });

  it('reports that its service cannot be reached', async () => {
    const down = await side.unreachable();
    const body = inChunks(Buffer.alloc(20 * megabyte), 65_536);
    const put = down.put('a/b', body, { ...png, signal: signal() });
    await expect(put).rejects.toEqual(failure('unavailable'));
    await down.close();
  });

  it('holds only a small part of a body of 200 MB at a time', async () => {
    const allowance = 64 * megabyte;
    const { body, mostHeld } = weighed(200 * megabyte, allowance);
    const bytes = await store.put('large/200mb', body, { ...png, signal: signal() });
    expect(bytes).toBe(200 * megabyte);
    expect(mostHeld()).toBeLessThan(allowance);
    await store.delete(['large/200mb'], signal());
  });
}

async function answerTo(url: string) {
  const answer = await fetch(url, { signal: signal() });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
}
