import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AssetStore, createStore, storageSettings } from '#storage';
import { readSettings } from '#schemas';
import { least } from '../harness/faults.js';
import { failOnLeftovers, tcpProxy, type TcpProxy, waitFor } from '../harness/index.js';
import { inChunks, still } from '../storage/bodies.js';
import { assetStoreSuite, type Side } from '../storage/suite.js';
import { rawClient, startSwift, type Swift } from './swift.js';
import { swiftPage } from './swift-configuration.js';
import { describeWithSwift, packages } from './with-swift.js';

const megabyte = 1024 * 1024;

describeWithSwift('assets on S3', () => {
  let swift: Swift;
  const open = async (more: Record<string, string> = {}) => {
    return createStore(readSettings(storageSettings, { ...swift.settings, ...more }));
  };
  const quick = { S3_REQUEST_TIMEOUT_MS: '2000' };

  beforeAll(async () => {
    swift = await startSwift(packages);
  });
  afterAll(() => swift.stop());
  failOnLeftovers();

  describe('keeps the promises of the port', () => {
    assetStoreSuite(openSide, { listed: 3 * swiftPage + 3 });

    it('with a service that lists a page at a time', async () => {
      expect(await keysIn(swift, 'list/')).toHaveLength(swiftPage);
    });
  });

  it.each([
    ['image/svg+xml', 10, 'attachment'],
    ['text/html', 6 * megabyte, 'attachment'],
    ['image/png', 10, 'inline'],
    ['video/mp4', 6 * megabyte, 'inline'],
  ])('serves %s of %i bytes as %s', async (mediaType, bytes, disposition) => {
    const { store } = await open();
    await store.put('opened/by-link', Buffer.alloc(bytes), { ...facts(), mediaType });
    const link = await store.sign('opened/by-link', { expiresInSeconds: 600, nowMs: Date.now() });
    const reply = await fetch(link);
    expect([reply.status, reply.headers.get('content-disposition')]).toEqual([200, disposition]);
    expect((await reply.arrayBuffer()).byteLength).toBe(bytes);
    await store.close();
  });

  it('does not touch what others upload to the same bucket', async () => {
    const { store } = await open();
    for (const key of ['elsewhere/unfinished', 'files/unfinished']) await leaveUnfinished(swift, key);
    expect(await store.abortStale(Date.now() + 3_600_000, signal())).toBe(1);
    expect(await openUploads(swift)).toBe(1);
    const client = rawClient(swift);
    const at = { Bucket: swift.settings.S3_BUCKET };
    const { Uploads: [{ Key, UploadId } = {}] = [] } = await client.send(new ListMultipartUploadsCommand(at));
    expect(Key).toBe('elsewhere/unfinished');
    await client.send(new AbortMultipartUploadCommand({ ...at, Key, UploadId }));
    client.destroy();
    await store.close();
  });

  it('reports quickly that S3 cannot be reached', async () => {
    const down = await unreachable();
    const shortestMs = await least(10_000, async () => {
      const beganMs = performance.now();
      const signal = AbortSignal.timeout(120_000);
      const body = inChunks(Buffer.alloc(20 * megabyte), 65_536);
      const put = down.put('a/b', body, { mediaType: 'image/png', signal });
      await expect(put).rejects.toMatchObject({ failure: 'unavailable' });
      return performance.now() - beganMs;
    });
    expect(shortestMs).toBeLessThan(10_000);
    await down.close();
  });

  async function unreachable(): Promise<AssetStore> {
    const closed = await tcpProxy({ port: 1 });
    await closed.close();
    return (await open({ ...quick, S3_ENDPOINT: `http://${closed.address}` })).store;
  }

  async function openSide(): Promise<Side> {
    const { store } = await open();
    return {
      store,
      keys: (prefix) => keysIn(swift, prefix),
      leaveUnfinished: () => leaveUnfinished(swift, 'runs/unfinished'),
      unreachable,
      close: () => store.close(),
    };
  }

  describe('when the connection to S3 breaks', () => {
    let proxy: TcpProxy;
    /** For calls before and after the outage, with long time limits. */
    let patient: AssetStore;
    const openBehindProxy = async () =>
      (await open({ ...quick, S3_ENDPOINT: `http://${proxy.address}` })).store;

    beforeAll(async () => {
      proxy = await tcpProxy({ port: swift.port });
      patient = (await open()).store;
    });
    afterAll(() => Promise.all([proxy.close(), patient.close()]));

    it.each(['reset', 'blackhole'] as const)(
      'a long put fails quickly, and is swept later: %s',
      async (mode) => {
        const store = await openBehindProxy();
        let brokenMs = Number.NaN;
        async function* body() {
          yield* inChunks(Buffer.alloc(12 * megabyte), 65_536);
          await waitFor(async () => (await openUploads(swift)) === 1, {
            withinMs: 30_000,
            what: 'an upload',
          });
          proxy.set(mode);
          brokenMs = performance.now();
          yield* inChunks(Buffer.alloc(12 * megabyte), 65_536);
        }
        await expect(store.put(`runs/broken/${mode}`, body(), facts())).rejects.toEqual(unavailable);
        expect(performance.now() - brokenMs).toBeLessThan(15_000);
        proxy.set('pass');
        // Requests that the proxy held back may still arrive, among them the store's own call to end the upload.
        expect(await patient.abortStale(Date.now() + 60_000, signal())).toBeLessThanOrEqual(1);
        expect(await openUploads(swift)).toBe(0);
        expect(await keysIn(swift, 'runs/broken/')).toEqual([]);
        await store.close();
      },
    );

    it('a signal ends a put that S3 does not answer', async () => {
      const store = await openBehindProxy();
      proxy.set('blackhole');
      const reason = new Error('stop');
      const leaving = new AbortController();
      setTimeout(() => leaving.abort(reason), 100);
      const put = store.put('broken/silent', still('x'), { ...facts(), signal: leaving.signal });
      await expect(put).rejects.toBe(reason);
      proxy.set('pass');
      await store.close();
    });

    it('a body that stops arriving fails', async () => {
      const store = await openBehindProxy();
      await patient.put('broken/read', Buffer.alloc(20 * megabyte), facts());
      const { body } = await store.get('broken/read', signal());
      const reading = async () => {
        for await (const _chunk of body) proxy.set('blackhole');
      };
      await expect(reading()).rejects.toMatchObject({ name: 'TimeoutError' });
      proxy.set('pass');
      await patient.delete(['broken/read'], signal());
      await store.close();
    });

    it.each([
      ['the bucket', { S3_BUCKET: 'no-such-bucket' }],
      ['the secret', { S3_SECRET_ACCESS_KEY: 'wrong' }],
    ])('%s is wrong: unavailable, never not_found', async (_what, wrong) => {
      const { store } = await open(wrong);
      await expect(store.get('a', signal())).rejects.toEqual(unavailable);
      await expect(store.put('a', still('x'), facts())).rejects.toEqual(unavailable);
      const listing = store.list('runs/', signal())[Symbol.asyncIterator]();
      await expect(listing.next()).rejects.toEqual(unavailable);
      await store.close();
    });
  });
});

const signal = () => AbortSignal.timeout(60_000);
const facts = () => ({ mediaType: 'video/mp4', signal: signal() });
const unavailable = expect.objectContaining({ name: 'StorageError', failure: 'unavailable' });

/** The state that a process leaves when it is killed after its first part. */
async function leaveUnfinished(swift: Swift, key: string): Promise<void> {
  const client = rawClient(swift);
  const at = { Bucket: swift.settings.S3_BUCKET, Key: key };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  await client.send(
    new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: Buffer.alloc(5 * megabyte) }),
  );
  client.destroy();
}

async function openUploads(swift: Swift): Promise<number> {
  const client = rawClient(swift);
  const { Uploads = [] } = await client.send(
    new ListMultipartUploadsCommand({ Bucket: swift.settings.S3_BUCKET }),
  );
  client.destroy();
  return Uploads.length;
}

async function keysIn(swift: Swift, prefix: string): Promise<string[]> {
  const client = rawClient(swift);
  const { Contents = [] } = await client.send(
    new ListObjectsV2Command({ Bucket: swift.settings.S3_BUCKET, Prefix: prefix }),
  );
  client.destroy();
  return Contents.map(({ Key = '' }) => Key);
}
