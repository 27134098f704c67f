import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { memoryRises, System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, file, transports } from '../harness/index.js';
import { FalQueue } from '../assets/fal-queue.js';

const mebibyte = 1024 * 1024;
const allowance = 256 * mebibyte;

// A large result costs a process a few pieces of it, not all of it.
describe('memory', () => {
  let provider: FalQueue;
  let system: System;
  let caller: Caller;

  beforeAll(async () => {
    provider = await FalQueue.start();
    provider.paths.set('/v1/audio/speech', file('audio/mpeg', 50 * mebibyte));
    provider.paths.set('/gigabyte.mp4', file('video/mp4', 1024 * mebibyte));
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      env: {
        PROVIDER_FAL_BASE_URL: provider.url,
        PROVIDER_OPENAI_BASE_URL: `${provider.url}/v1`,
        ASSET_ALLOWED_ORIGINS: provider.url,
        // This test measures memory, however slow the disk is.
        ASSET_COPY_MS: '150000',
        STORE_PAYLOAD_MS: '150000',
      },
    });
    caller = await system.caller({ inflightLimit: 20 });
    // A warm-up of each kind, so that the baseline includes everything that is loaded on first use.
    provider.results.set('first', '{"images":[]}');
    await caller.call('POST', '/v2/models/fal/flux-dev', { body: '{"prompt":"first"}' });
  });
  afterAll(async () => {
    await system.stop();
    await provider.stop();
  });

  const risesDuring = (what: string, act: () => Promise<unknown>) =>
    memoryRises(what, [...system.gateways, ...system.workers], act);

  it('for an asset of a gigabyte is far below its size', async () => {
    provider.results.set('gigabyte', JSON.stringify({ images: [{ url: `${provider.url}/gigabyte.mp4` }] }));
    let url = '';
    const rises = await risesDuring('a gigabyte', async () => {
      const answer = await caller.call('POST', '/v2/models/fal/flux-dev', {
        body: '{"prompt":"gigabyte"}',
        withinMs: 180_000,
      });
      url = (answer.json() as { images: { url: string }[] }).images[0]?.url ?? '';
      expect(url).toContain('/assets/');
      let bytes = 0;
      const reply = await fetch(url);
      for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.length;
      expect(bytes).toBe(1024 * mebibyte);
    });
    for (const rise of rises) expect(rise).toBeLessThan(allowance);
  });

  it('for ten results of 50 MiB at once is far below their size', async () => {
    const rises = await risesDuring('ten of 50 MiB', async () => {
      const calls = Array.from({ length: 10 }, (_, index) =>
        speech(
          `/v2/models/openai/tts-1`,
          JSON.stringify({ model: 'tts-1', input: `${index}`, voice: 'alloy' }),
        ),
      );
      expect(await Promise.all(calls)).toEqual(calls.map(() => [200, 'audio/mpeg', 50 * mebibyte]));
    });
    for (const rise of rises) expect(rise).toBeLessThan(allowance);
  });

  async function speech(path: string, body: string): Promise<[number, string | null, number]> {
    const reply = await fetch(`${system.gateways[0]?.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': caller.key, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(180_000),
    });
    let bytes = 0;
    for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.length;
    return [reply.status, reply.headers.get('content-type'), bytes];
  }
});

failOnLeftovers();
