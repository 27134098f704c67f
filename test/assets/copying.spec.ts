import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import net from 'node:net';
import { once } from 'node:events';
import { readSettings } from '#schemas';
import { createStore, storageSettings } from '#storage';
import {
  type Caller,
  failOnLeftovers,
  holdToInvariants,
  sha256,
  System,
  transports,
  waitFor,
} from '../harness/index.js';
import { metric } from '../faults/metrics.js';
import { file, ScriptedPartner } from './scripted-partner.js';

const model = 'fal/flux-dev';
const run = `/v2/models/${model}`;
const urlTtlSeconds = 600;

describe('copied assets', () => {
  let partner: ScriptedPartner;
  let canary: net.Server;
  let canaryConnections = 0;
  let system: System;
  let caller: Caller;

  beforeAll(async () => {
    canary = net.createServer((socket) => {
      canaryConnections += 1;
      socket.destroy();
    });
    await once(canary.listen(0, '127.0.0.1'), 'listening');
    partner = await ScriptedPartner.start();
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      env: {
        PROVIDER_FAL_BASE_URL: partner.url,
        ASSET_ALLOWED_ORIGINS: partner.url,
        // One copy hangs for so long; for all others it is time enough.
        ASSET_COPY_MS: '6000',
        ASSET_URL_TTL: String(urlTtlSeconds),
        ASSET_MAX_BYTES: '1000000',
      },
    });
    caller = await system.caller();
  });
  afterAll(async () => {
    await system.stop();
    await partner.stop();
    canary.close();
  });

  /** A result as the partner might write it: odd spacing, a number no double holds, the URLs of its pictures. */
  function scripted(prompt: string, urls: string[]): string {
    const images = urls.map((url) => `{ "url" : ${JSON.stringify(url)},"width":9007199254740993 }`);
    const text = `{"prompt":${JSON.stringify(prompt)},\r\n "images" : [${images.join(' , ')} ],"seed":1.0e2,"é":"\\u00e9"}\n`;
    partner.results.set(prompt, text);
    return text;
  }

  const generated = async (prompt: string, headers: Record<string, string> = {}) =>
    caller.call('POST', run, { body: JSON.stringify({ prompt }), headers });

  const counted = async (outcome: string): Promise<number> => {
    const counts = system.workers.map((worker) => metric(worker, 'router_asset_copy_total', { outcome }));
    return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0);
  };

  it('replace the URLs of those that could be copied; everything else stays byte for byte', async () => {
    partner.paths.set('/good.png', file('image/png', 100_000));
    partner.paths.set('/hangs.png', () => {});
    partner.paths.set('/redirects.png', (_request, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
    );
    const theirs = ['good', 'missing', 'hangs', 'redirects'].map((name) => `${partner.url}/${name}.png`);
    const text = scripted('four', theirs);
    const answer = await generated('four');
    expect(answer.status).toBe(200);
    const [good = '', ...others] = urlsOf(answer.bytes);
    expect(others).toEqual(theirs.slice(1));
    expect(answer.bytes.toString()).toBe(text.replace(JSON.stringify(theirs[0]), JSON.stringify(good)));
    const picture = await fetch(good);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(picture.headers.get('x-content-type-options')).toBe('nosniff');
    expect(picture.headers.get('content-security-policy')).toContain('sandbox');
    expect(sha256(Buffer.from(await picture.arrayBuffer()))).toBe(sha256(Buffer.alloc(100_000, 'a')));
    for (const outcome of ['copied', 'status', 'timeout', 'refused_address'])
      expect([outcome, await counted(outcome)]).toEqual([outcome, 1]);
  });

  it('open until they expire, and the same result is repeated with the same URL', async () => {
    partner.paths.set('/once.png', file('image/png', 10));
    scripted('once', [`${partner.url}/once.png`]);
    const beganMs = Date.now();
    const first = await generated('once', { 'idempotency-key': 'once' });
    const [url = ''] = urlsOf(first.bytes);
    expect((await fetch(url)).status).toBe(200);
    const signedMs = (Number(new URL(url).searchParams.get('expires')) - urlTtlSeconds) * 1000;
    // URLs expire at whole seconds.
    expect(signedMs).toBeGreaterThan(beganMs - 1000);
    expect(signedMs).toBeLessThan(Date.now() + 1000);
    const again = await waitFor(
      async () => {
        const answer = await generated('once', { 'idempotency-key': 'once' });
        return answer.headers.has('idempotent-replayed') && answer;
      },
      { withinMs: 20_000, what: 'the delivery to be noted' },
    );
    expect(again.bytes.equals(first.bytes)).toBe(true);
    for (const forged of [url.replace('0.png', '1.png'), url.replace(/expires=\d/, 'expires=9'), `${url}x`]) {
      const refused = await fetch(forged);
      expect([refused.status, Object.keys((await refused.json()) as object)]).toEqual([
        404,
        ['error', 'message'],
      ]);
    }
    // The same URL, but for its time.
    const { store } = await createStore(readSettings(storageSettings, system.env()));
    const living = (expiresInSeconds: number) =>
      store.sign(new URL(url).pathname.replace('/assets/', ''), { expiresInSeconds, nowMs: Date.now() });
    const short = await living(1);
    await waitFor(async () => (await fetch(short)).status === 404, {
      withinMs: 20_000,
      what: 'the URL to expire',
    });
    expect((await fetch(await living(600))).status).toBe(200);
    expect((await fetch(url)).status).toBe(200);
  });

  it('that could not be copied leave a result that is delivered, but not repeated', async () => {
    const text = scripted('lost', [`${partner.url}/nowhere.png`]);
    const headers = { 'idempotency-key': 'lost' };
    const first = await generated('lost', headers);
    expect([first.status, first.bytes.toString()]).toEqual([200, text]);
    const later = await waitFor(
      async () => {
        const answer = await generated('lost', headers);
        return answer.status !== 200 && answer;
      },
      { withinMs: 20_000, what: 'the delivery to be noted' },
    );
    expect([later.status, later.bucket]).toEqual([409, 'invalid_input']);
  });

  it('are never fetched from this machine, in whatever spelling', async () => {
    const { port } = canary.address() as net.AddressInfo;
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
    partner.paths.set('/leads-here.png', (_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end(),
    );
    const urls = [
      ...hosts.flatMap((host) => [`https://${host}:${port}/a.png`, `http://${host}:${port}/a.png`]),
      // At the port of https nothing but the address is left to refuse.
      ...hosts.map((host) => `https://${host}/a.png`),
      `${partner.url}/leads-here.png`,
    ];
    const text = scripted('canary', urls);
    const answer = await generated('canary');
    expect([answer.status, answer.bytes.toString()]).toEqual([200, text]);
    expect(canaryConnections).toBe(0);
  });

  it('are bounded in size, kind and encoding, whatever they say of themselves', async () => {
    partner.paths.set('/endless.png', (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const more = () => {
        while (!response.destroyed)
          if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', more);
      };
      more();
    });
    partner.paths.set('/large.png', file('image/png', 2_000_000));
    partner.paths.set('/page.png', file('text/html', 100));
    partner.paths.set('/packed.png', file('image/png', 100, { 'content-encoding': 'gzip' }));
    partner.paths.set('/short.png', (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': 1000 });
      response.write('x', () => response.destroy());
    });
    partner.paths.set('/circle.png', (_request, response) =>
      response.writeHead(302, { location: '/circle.png' }).end(),
    );
    const names = ['endless', 'large', 'page', 'packed', 'short', 'circle'];
    const text = scripted(
      'bounded',
      names.map((name) => `${partner.url}/${name}.png`),
    );
    const answer = await generated('bounded');
    expect([answer.status, answer.bytes.toString()]).toEqual([200, text]);
    expect(partner.asked.filter((path) => path === '/circle.png')).toHaveLength(4);
    expect(await counted('too_large')).toBe(2);
    for (const outcome of ['media_type', 'encoding', 'unreachable', 'redirects'])
      expect([outcome, await counted(outcome)]).toEqual([outcome, 1]);
  });

  it('are fetched once where the same URL stands twice, and follow a redirect', async () => {
    partner.paths.set('/moved.png', (_request, response) =>
      response.writeHead(301, { location: '/good.png' }).end(),
    );
    scripted('twice', [`${partner.url}/moved.png`, `${partner.url}/moved.png`]);
    const answer = await generated('twice');
    const urls = urlsOf(answer.bytes);
    expect(new Set(urls).size).toBe(1);
    expect((await fetch(urls[0] ?? '')).status).toBe(200);
    expect(partner.asked.filter((path) => path === '/moved.png')).toHaveLength(1);
  });

  it('keep every invariant', async () => {
    await holdToInvariants(system);
  });
});

const urlsOf = (bytes: Buffer): string[] =>
  (JSON.parse(bytes.toString()) as { images: { url: string }[] }).images.map(({ url }) => url);

failOnLeftovers();
