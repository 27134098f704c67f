import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings } from '#schemas';
import { createStore, storageSettings } from '#storage';
import {
  type Caller,
  content,
  failOnLeftovers,
  file,
  json,
  redirect,
  ScriptedServer,
  sha256,
  sharedSystem,
  status,
  transports,
  waitFor,
} from '../harness/index.js';
import { FalQueue, short, urlsOf } from './fal-queue.js';
import { scriptedModel } from './own-models.js';

const model = 'copied/pictures';
const dayS = 86_400;

// Copies that hang or never end, and their counts, are in test/faults/asset-limits.spec.ts.
describe.each(transports().slice(0, 1))('copied assets on %s', (transport) => {
  const system = sharedSystem(transport);
  let provider: FalQueue;
  let canary: ScriptedServer;
  let caller: Caller;

  beforeAll(async () => {
    canary = await ScriptedServer.start();
    provider = await FalQueue.start();
    system.giveKey('copied', 'key-of-the-copied');
    await system.serve(scriptedModel('copied', provider.url, 'assets_from_base: true'));
    system.giveKey('keyed', 'key-of-the-keyed');
    await system.serve(scriptedModel('keyed', provider.url, 'assets_need_key: true'));
    caller = await system.caller();
  });
  afterAll(async () => {
    await provider.stop();
    await canary.stop();
  });

  const keysSent = (path: string) => provider.to(path).map(({ headers }) => headers['authorization']);

  /** A synchronous call. */
  const generated = (prompt: string, headers: Record<string, string> = {}) =>
    caller.call('POST', `/v2/models/${model}`, { body: JSON.stringify({ prompt }), headers });

  /** Returns a queued run with its result, and the worker's reasons for each asset that it did not copy. */
  async function collected(prompt: string, notCopied: number) {
    const run = await caller.submit(model, JSON.stringify({ prompt }));
    await caller.completed(run, 60_000);
    const told = () =>
      system.workers
        .flatMap((worker) => worker.logs().split('\n'))
        .filter((line) => line.includes(run.requestId) && line.includes('asset not copied'))
        .map((line) => JSON.parse(line) as { asset: number; trouble: string });
    const troubles = await waitFor(() => told().length >= notCopied && told(), {
      withinMs: 20_000,
      what: 'the log lines about the assets',
    });
    return {
      answer: await caller.collect(run),
      troubles: Object.fromEntries(troubles.map(({ asset, trouble }) => [asset, trouble])),
    };
  }

  it('replace the provider’s URLs; every other byte of the result stays the same', async () => {
    provider.paths.set('/good.png', file('image/png', 100_000));
    provider.paths.set('/redirects.png', redirect('http://169.254.169.254/latest/meta-data/'));
    const theirs = ['good', 'missing', 'redirects'].map((name) => `${provider.url}/${name}.png`);
    const text = provider.script('three', theirs);
    const { answer, troubles } = await collected('three', 2);
    expect([answer.status, troubles]).toEqual([200, { 1: 'status', 2: 'refused_address' }]);
    const [good = '', ...others] = urlsOf(answer.bytes);
    expect(others).toEqual(theirs.slice(1));
    expect(answer.bytes.toString()).toBe(text.replace(JSON.stringify(theirs[0]), JSON.stringify(good)));
    const picture = await fetch(good);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(picture.headers.get('x-content-type-options')).toBe('nosniff');
    expect(picture.headers.get('content-security-policy')).toContain('sandbox');
    expect(sha256(Buffer.from(await picture.arrayBuffer()))).toBe(sha256(Buffer.alloc(100_000, 'a')));
  });

  it('are never empty: an asset of 0 bytes keeps its URL', async () => {
    provider.paths.set('/empty.png', file('image/png', 0));
    // Without a declared length, the worker sees only at the end that the asset is empty.
    provider.paths.set(
      '/nothing.png',
      status(200, { 'content-type': 'image/png', 'transfer-encoding': 'chunked' }),
    );
    const theirs = ['empty', 'nothing'].map((name) => `${provider.url}/${name}.png`);
    const text = provider.script('empty', theirs);
    const { answer, troubles } = await collected('empty', 2);
    expect([answer.status, troubles]).toEqual([200, { 0: 'empty', 1: 'empty' }]);
    expect(answer.bytes.toString()).toBe(text);
  });

  it('open until they expire, and a replay of the result has the same URL', async () => {
    provider.paths.set('/once.png', file('image/png', 10));
    provider.script('once', [`${provider.url}/once.png`]);
    const beganMs = Date.now();
    const first = await generated('once', { 'idempotency-key': 'once' });
    const [url = ''] = urlsOf(first.bytes);
    expect((await fetch(url)).status).toBe(200);
    const signedMs = (Number(new URL(url).searchParams.get('expires')) - dayS) * 1000;
    // URLs expire at whole seconds.
    expect(signedMs).toBeGreaterThan(beganMs - 1000);
    expect(signedMs).toBeLessThan(Date.now() + 1000);
    const again = await generated('once', { 'idempotency-key': 'once' });
    expect([again.headers.get('idempotent-replayed'), again.bytes.equals(first.bytes)]).toEqual([
      'true',
      true,
    ]);
    for (const forged of [url.replace('0.png', '1.png'), url.replace(/expires=\d/, 'expires=9'), `${url}x`]) {
      const refused = await fetch(forged);
      expect([refused.status, Object.keys((await refused.json()) as object)]).toEqual([
        404,
        ['error', 'message'],
      ]);
    }
    // The same URL, except for its expiry.
    const { store } = await createStore(readSettings(storageSettings, system.env()));
    const signedBefore = (seconds: number) =>
      store.sign(new URL(url).pathname.replace('/assets/', ''), {
        expiresInSeconds: 600,
        nowMs: Date.now() - seconds * 1000,
      });
    expect((await fetch(await signedBefore(602))).status).toBe(404);
    expect((await fetch(await signedBefore(0))).status).toBe(200);
    expect((await fetch(url)).status).toBe(200);
  });

  it('that failed to copy leave a result that is delivered once and not replayed', async () => {
    const text = provider.script('lost', [`${provider.url}/nowhere.png`]);
    const headers = { 'idempotency-key': 'lost' };
    const first = await generated('lost', headers);
    expect([first.status, first.bytes.toString()]).toEqual([200, text]);
    const later = await waitFor(
      async () => {
        const answer = await generated('lost', headers);
        return answer.status !== 200 && answer;
      },
      { withinMs: 60_000, what: 'the delivery to be recorded' },
    );
    expect([later.status, later.bucket]).toEqual([409, 'invalid_input']);
  });

  it('are never fetched from this machine, however its address is written', async () => {
    const { port } = canary;
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '%31%32%37.0.0.1',
      '１２７.０.０.１',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      'localhost',
    ];
    provider.paths.set('/leads-here.png', redirect(`http://127.0.0.1:${port}/`, 307));
    const urls = [
      ...hosts.flatMap((host) => [`https://${host}:${port}/a.png`, `http://${host}:${port}/a.png`]),
      // On the port of https, only the address is left to reject.
      ...hosts.map((host) => `https://${host}/a.png`),
      `${provider.url}/leads-here.png`,
    ];
    const text = provider.script('canary', urls);
    const { answer, troubles } = await collected('canary', urls.length);
    expect([answer.status, answer.bytes.toString()]).toEqual([200, text]);
    expect(troubles).toEqual(Object.fromEntries(urls.map((_url, asset) => [asset, 'refused_address'])));
    expect(canary.connections).toBe(0);
  });

  it('are fetched without the provider’s key, and an error of its API is never delivered as an asset', async () => {
    const paths = ['/v1/account', '/v1/picture.png', '/subtitles.json'];
    paths.forEach((path) => provider.paths.set(path, json({ balance: 1 })));
    provider.paths.set(
      '/v1/picture.png',
      content('application/problem+json; charset=utf-8', '{"balance":1}'),
    );
    const theirs = paths.map((path) => `${provider.url}${path}`);
    provider.script('echoed', theirs);
    const { answer, troubles } = await collected('echoed', 2);
    expect([answer.status, troubles]).toEqual([200, { 0: 'media_type', 1: 'media_type' }]);
    const urls = urlsOf(answer.bytes);
    expect(urls.slice(0, 2)).toEqual(theirs.slice(0, 2));
    expect((await fetch(urls[2] ?? '')).status).toBe(200);
    expect(paths.flatMap(keysSent)).toEqual([undefined, undefined, undefined]);
  });

  it('are fetched with the key if the declaration says so', async () => {
    provider.paths.set('/keyed.png', file('image/png', 10));
    provider.script('keyed', [`${provider.url}/keyed.png`]);
    const answer = await caller.call('POST', '/v2/models/keyed/pictures', { body: '{"prompt":"keyed"}' });
    expect(urlsOf(answer.bytes)[0]).not.toContain(provider.url);
    expect(keysSent('/keyed.png')).toEqual(['Key key-of-the-keyed']);
  });

  it('are limited in media type, encoding and redirects, whatever their headers claim', async () => {
    provider.paths.set('/page.png', file('text/html', 100));
    provider.paths.set('/packed.png', file('image/png', 100, { 'content-encoding': 'gzip' }));
    provider.paths.set('/short.png', short);
    provider.paths.set('/circle.png', redirect('/circle.png'));
    const names = ['page', 'packed', 'short', 'circle'];
    const text = provider.script(
      'bounded',
      names.map((name) => `${provider.url}/${name}.png`),
    );
    const { answer, troubles } = await collected('bounded', names.length);
    expect([answer.status, answer.bytes.toString()]).toEqual([200, text]);
    expect(troubles).toEqual({ 0: 'media_type', 1: 'encoding', 2: 'unreachable', 3: 'redirects' });
    expect(provider.to('/circle.png')).toHaveLength(4);
  });

  it('are fetched once if the same URL occurs twice, and follow a redirect', async () => {
    provider.paths.set('/there.png', file('image/png', 100));
    provider.paths.set('/moved.png', redirect('/there.png', 301));
    provider.script('twice', [`${provider.url}/moved.png`, `${provider.url}/moved.png`]);
    const answer = await generated('twice');
    const urls = urlsOf(answer.bytes);
    expect(new Set(urls).size).toBe(1);
    expect((await fetch(urls[0] ?? '')).status).toBe(200);
    expect(provider.to('/moved.png')).toHaveLength(1);
  });
});

failOnLeftovers();
