import {
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { answerOf } from '../admin/run-admin.js';
import { happenedEarlier, System } from '../harness/faults.js';
import {
  type Caller,
  failOnLeftovers,
  file,
  newTag,
  type Reply,
  sha256,
  type Submitted,
  tcpProxy,
  type TcpProxy,
  transports,
  waitFor,
} from '../harness/index.js';
import { metric } from '../faults/metrics.js';
import { dismissWorkers } from '../faults/worker-faults.js';
import { describeWithSwift, packages } from './with-swift.js';
import { rawClient, startSwift, type Swift } from './swift.js';
import { FalQueue } from '../assets/fal-queue.js';

const model = 'fal/flux-dev';
const mebibyte = 1024 * 1024;
const bytes = 12 * mebibyte;
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

// The connection to S3 breaks in every way. A paid result must still be delivered, and nothing may be left in S3.
describeWithSwift('assets and S3', () => {
  let swift: Swift;
  let way: TcpProxy;
  let provider: FalQueue;
  let system: System;
  let caller: Caller;
  let s3: S3Client;

  beforeAll(async () => {
    [swift, provider] = await Promise.all([startSwift(packages), FalQueue.start()]);
    way = await tcpProxy({ port: swift.port });
    s3 = rawClient(swift);
    provider.paths.set('/long.mp4', file('video/mp4', bytes));
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      env: {
        // The jobs of a killed worker are found soon, while a slow worker keeps its own.
        QUEUE_LOCK_MS: '5000',
        QUEUE_STALLED_MS: '500',
        ...swift.settings,
        S3_ENDPOINT: `http://${way.address}`,
        S3_PUBLIC_ENDPOINT: swift.settings.S3_ENDPOINT,
        S3_REQUEST_TIMEOUT_MS: '3000',
        PROVIDER_FAL_BASE_URL: provider.url,
        ASSET_ALLOWED_ORIGINS: provider.url,
        RETENTION_EVERY_MS: '300',
      },
    });
    caller = await system.caller();
  });
  afterAll(async () => {
    await system.stop();
    await provider.stop();
    await way.close();
    s3.destroy();
    await swift.stop();
  });

  const theirs = () => `${provider.url}/long.mp4`;

  const submit = (prompt: string): Promise<Submitted> => {
    provider.results.set(prompt, JSON.stringify({ images: [{ url: theirs() }] }));
    return caller.submit(model, JSON.stringify({ prompt }));
  };

  async function urlOf(run: Submitted): Promise<string> {
    expect(await caller.completed(run, 60_000)).not.toHaveProperty('error_type');
    const { images } = (await caller.collect(run)).json() as { images: { url: string }[] };
    return images[0]?.url ?? '';
  }

  const isCopy = (url: string) => url.startsWith(swift.settings.S3_ENDPOINT);

  it('copies in parts, and returns a link of S3’s own', async () => {
    const url = await urlOf(await submit('whole'));
    expect(isCopy(url)).toBe(true);
    const reply = await fetch(url);
    expect(reply.headers.get('content-type')).toBe('video/mp4');
    expect(sha256(Buffer.from(await reply.arrayBuffer()))).toBe(sha256(Buffer.alloc(bytes, 'a')));
  });

  it('keeps the provider’s link while S3 is down or does not answer', async () => {
    for (const mode of ['reset', 'blackhole'] as const) {
      way.set(mode);
      expect(await urlOf(await submit(mode))).toBe(theirs());
      way.set('pass');
    }
    const [worker] = system.workers;
    if (!worker) throw new Error('no worker');
    expect(await metric(worker, 'router_asset_copy_total', { outcome: 'store' })).toBeGreaterThanOrEqual(1);
  });

  it('delivers the result even if the upload breaks in the middle', async () => {
    const { run, goOn } = await inTheMiddle('torn');
    way.set('reset');
    await waitFor(() => way.connections === 0, { withinMs: 20_000, what: 'the connections to break' });
    way.set('pass');
    goOn();
    const url = await urlOf(run);
    expect(isCopy(url) || url === `${provider.url}/slow.mp4`).toBe(true);
  });

  it('copies again after its worker was killed in the middle of an upload', async () => {
    const { run, goOn } = await inTheMiddle('killed');
    const [worker] = system.workers;
    if (!worker) throw new Error('no worker');
    await system.kill(worker);
    await system.startWorker();
    goOn();
    expect(isCopy(await urlOf(run))).toBe(true);
  });

  it('rejects a large input while S3 is down, and accepts it afterwards', async () => {
    const body = JSON.stringify({ prompt: 'x'.repeat(300_000) });
    way.set('reset');
    const refused = await caller.call('POST', `/v2/models/${model}/requests`, { body });
    way.set('pass');
    expect([refused.status, refused.bucket]).toEqual([503, 'service_unavailable']);
    const run = await submit('x'.repeat(300_000));
    expect(isCopy(await urlOf(run))).toBe(true);
  });

  it('stores a caller’s file, which a provider reads by its link or gets in a form', async () => {
    const content = Buffer.concat([png, Buffer.alloc(7 * mebibyte, 7)]);
    const headers = { 'content-type': 'image/png' };
    const uploaded = await caller.call('POST', '/v2/files', { body: content, headers });
    expect(uploaded.status).toBe(201);
    const { id, url } = uploaded.json() as { id: string; url: string };
    const key = `files/${id}.png`;
    expect(await keys()).toContain(key);

    const edit = JSON.stringify({ prompt: 'link', image_urls: [url] });
    provider.results.set('link', JSON.stringify({ images: [{ url: theirs() }] }));
    expect((await caller.call('POST', '/v2/models/fal/nano-banana-edit', { body: edit })).status).toBe(200);
    // Like a provider, without any credential.
    expect(provider.inputs.find(({ prompt }) => prompt === 'link')).toHaveProperty('image_urls', [url]);
    expect(isCopy(url)).toBe(true);
    const opened = await fetch(url);
    expect([opened.status, opened.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(Buffer.from(await opened.arrayBuffer()).equals(content)).toBe(true);
    expect((await fetch(url.replace(/\?.*/, ''))).status).toBeGreaterThanOrEqual(400);

    const tag = newTag('form');
    const form = JSON.stringify({ prompt: `[[sim:tag=${tag}]]`, strength: 0.5, image: url });
    expect(
      (await caller.call('POST', '/v2/models/stability/stable-image-ultra', { body: form })).status,
    ).toBe(200);
    const [sent] = await system.provider.ledger(tag);
    expect(Buffer.from(sent?.bodyBase64 ?? '', 'base64').includes(content)).toBe(true);
  });

  it('finds an object that no row names, and lets workers delete it', async () => {
    const key = `runs/${randomUUID()}/input`;
    await s3.send(new PutObjectCommand({ Bucket: swift.settings.S3_BUCKET, Key: key, Body: 'lost' }));
    const find = ['restore', 'objects', '--older-than-hours', '0'];
    // Swift dates an object by the next full second, so that second has to pass first.
    const found = () => answerOf(system.env(), ...find) as Promise<{ objects: number }>;
    await waitFor(async () => (await found()).objects > 0, {
      withinMs: 30_000,
      what: 'the object to be found',
    });
    expect(await found()).toMatchObject({ objects: 1, listed: [{ key, bytes: 4 }] });
    expect(await answerOf(system.env(), ...find, '--delete', '--yes')).toMatchObject({ deleting: 1 });
    await waitFor(async () => !(await keys()).includes(key), {
      withinMs: 30_000,
      what: 'the object to be deleted',
    });
  });

  it('leaves nothing in the bucket once the results have expired', async () => {
    // All links have expired and no put is in progress, so unfinished objects can be deleted too.
    await system.sql(
      `UPDATE stored_object SET link_expires_at = link_expires_at - interval '3 days', delete_at = delete_at - interval '3 days'`,
    );
    await dismissWorkers(system);
    await system.startWorker({ STORE_DOUBT_SECONDS: '1' });
    const runs = await system.sql<{ id: string; model: string }>('SELECT id, model FROM run');
    for (const { id, model: of } of runs) {
      await happenedEarlier(system.database.url, { requestId: id, model: of, body: '' }, 3);
    }
    const known = () => system.sql('SELECT key FROM stored_object');
    const isEmpty = async () => [await keys(), await openUploads(), await known()].flat().length === 0;
    await waitFor(isEmpty, { withinMs: 60_000, what: 'the bucket and its table to be empty', everyMs: 300 });
  });

  /** A run whose asset is half uploaded, and a function that lets the upload continue. */
  async function inTheMiddle(prompt: string): Promise<{ run: Submitted; goOn: () => void }> {
    const { file, goOn } = halting();
    provider.paths.set('/slow.mp4', file);
    provider.results.set(prompt, JSON.stringify({ images: [{ url: `${provider.url}/slow.mp4` }] }));
    const run = await caller.submit(model, JSON.stringify({ prompt }));
    const isOpen = async () => (await openUploads()).some((key) => key.includes(run.requestId));
    await waitFor(isOpen, { withinMs: 30_000, what: 'an upload to begin' });
    return { run, goOn };
  }

  async function keys(): Promise<string[]> {
    const page = await s3.send(new ListObjectsV2Command({ Bucket: swift.settings.S3_BUCKET }));
    return (page.Contents ?? []).map(({ Key = '' }) => Key);
  }

  async function openUploads(): Promise<string[]> {
    const page = await s3.send(new ListMultipartUploadsCommand({ Bucket: swift.settings.S3_BUCKET }));
    return (page.Uploads ?? []).map(({ Key = '' }) => Key);
  }
});

/** A file that pauses after the first part of an upload, until it may continue. */
function halting(): { file: Reply; goOn: () => void } {
  const goingOn = new AbortController();
  const first = 8 * mebibyte;
  return {
    goOn: () => goingOn.abort(),
    file: (_call, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes });
      response.write(Buffer.alloc(first, 'a'));
      const rest = () => response.destroyed || response.end(Buffer.alloc(bytes - first, 'a'));
      if (goingOn.signal.aborted) rest();
      else goingOn.signal.addEventListener('abort', rest, { once: true });
    },
  };
}

failOnLeftovers();
