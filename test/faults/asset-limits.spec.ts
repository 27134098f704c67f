import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, file, redirect, sendPieces, transports } from '../harness/index.js';
import { FalQueue, short, urlsOf } from '../assets/fal-queue.js';
import { metric } from './metrics.js';

// A system of its own, because a hanging copy takes its full time, and a worker's counts are shared.
describe('assets beyond the limits', () => {
  let provider: FalQueue;
  let system: System;
  let caller: Caller;

  beforeAll(async () => {
    provider = await FalQueue.start();
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      env: {
        PROVIDER_FAL_BASE_URL: provider.url,
        ASSET_ALLOWED_ORIGINS: provider.url,
        // The hanging copy lasts this long; the others need less.
        ASSET_COPY_MS: '6000',
        ASSET_MAX_BYTES: '1000000',
      },
    });
    caller = await system.caller();
  });
  afterAll(async () => {
    await system.stop();
    await provider.stop();
  });

  const generated = (prompt: string) =>
    caller.call('POST', '/v2/models/fal/flux-dev', { body: JSON.stringify({ prompt }) });
  const counted = async (outcome: string): Promise<number> => {
    const counts = system.workers.map((worker) => metric(worker, 'router_asset_copy_total', { outcome }));
    return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0);
  };

  it('one that hangs keeps the provider’s URL after its time limit, and delays no other', async () => {
    provider.paths.set('/good.png', file('image/png', 100_000));
    provider.paths.set('/hangs.png', () => {});
    provider.paths.set('/redirects.png', redirect('http://169.254.169.254/latest/meta-data/'));
    const theirs = ['good', 'missing', 'hangs', 'redirects'].map((name) => `${provider.url}/${name}.png`);
    const text = provider.script('four', theirs);
    const answer = await generated('four');
    expect(answer.status).toBe(200);
    const [good = '', ...others] = urlsOf(answer.bytes);
    expect(others).toEqual(theirs.slice(1));
    expect(answer.bytes.toString()).toBe(text.replace(JSON.stringify(theirs[0]), JSON.stringify(good)));
    for (const outcome of ['copied', 'status', 'timeout', 'refused_address'])
      expect([outcome, await counted(outcome)]).toEqual([outcome, 1]);
  });

  it('those that are too large keep the provider’s URL, whatever size they declare', async () => {
    provider.paths.set('/endless.png', (_call, response) =>
      sendPieces(response.writeHead(200, { 'content-type': 'image/png' }), 'a'),
    );
    provider.paths.set('/large.png', file('image/png', 2_000_000));
    provider.paths.set('/page.png', file('text/html', 100));
    provider.paths.set('/packed.png', file('image/png', 100, { 'content-encoding': 'gzip' }));
    provider.paths.set('/short.png', short);
    provider.paths.set('/circle.png', redirect('/circle.png'));
    const names = ['endless', 'large', 'page', 'packed', 'short', 'circle'];
    const text = provider.script(
      'bounded',
      names.map((name) => `${provider.url}/${name}.png`),
    );
    const answer = await generated('bounded');
    expect([answer.status, answer.bytes.toString()]).toEqual([200, text]);
    expect(await counted('too_large')).toBe(2);
    for (const outcome of ['media_type', 'encoding', 'unreachable', 'redirects'])
      expect([outcome, await counted(outcome)]).toEqual([outcome, 1]);
  });

  it('keep every invariant', () => holdToInvariants(system));
});

failOnLeftovers();
