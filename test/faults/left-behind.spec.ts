import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import path from 'node:path';
import { happenedEarlier, holdToInvariants, System } from '../harness/faults.js';
import {
  type Caller,
  failOnLeftovers,
  file,
  sha256,
  storedFiles,
  type Submitted,
  transports,
  waitFor,
} from '../harness/index.js';
import { death, dismissWorkers, quick, reached } from './worker-faults.js';
import { FalQueue } from '../assets/fal-queue.js';

const model = 'fal/flux-dev';
// A link opens its copy for two days, a day longer than a result is kept.
const retention = { RETENTION_EVERY_MS: '200', STORE_DOUBT_SECONDS: '10', ASSET_URL_TTL: '172800' };

// Every stored object has a row and a use, and is deleted when the use ends.
describe('the store', () => {
  let provider: FalQueue;
  let system: System;
  let caller: Caller;

  beforeAll(async () => {
    provider = await FalQueue.start();
    provider.paths.set('/a.png', file('image/png', 300_000));
    provider.paths.set('/b.png', file('image/png', 300_000));
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      workers: 0,
      env: {
        ...quick,
        ...retention,
        PROVIDER_FAL_BASE_URL: provider.url,
        ASSET_ALLOWED_ORIGINS: provider.url,
        QUEUE_STALLED_MS: '300',
      },
    });
    caller = await system.caller();
  });
  afterAll(async () => {
    await system.stop();
    await provider.stop();
  });

  /** Everything in the store except its own bookkeeping. */
  const stored = (): string[] =>
    storedFiles(system.assets)
      .filter((key) => !key.endsWith('~type'))
      .map((key) => path.basename(key))
      .sort();

  const noted = async (): Promise<number> => (await system.sql('SELECT key FROM stored_object')).length;

  const results = (prompt: string, filler = '') =>
    provider.results.set(
      prompt,
      JSON.stringify({ filler, images: ['a', 'b'].map((name) => ({ url: `${provider.url}/${name}.png` })) }),
    );

  const submit = (prompt: string): Promise<Submitted> => caller.submit(model, JSON.stringify({ prompt }));

  async function result(run: Submitted): Promise<{ images: { url: string }[] }> {
    await caller.completed(run);
    return (await caller.collect(run)).json() as never;
  }

  it.each(['results.afterKeep', 'copying.beforePut', 'copying.afterPut', 'copying.beforeFinish'])(
    'holds nothing extra after a kill -9 at %s: the next worker makes the copies',
    async (place) => {
      const prompt = `killed at ${place}`;
      results(prompt);
      const doomed = await system.startWorker({ FAILPOINT: `${place}:kill` });
      const run = await submit(prompt);
      await death(system, doomed);
      const next = await system.startWorker();
      const { images } = await result(run);
      for (const { url } of images) {
        expect(url).not.toContain(provider.url);
        const copy = await fetch(url);
        expect([copy.status, sha256(Buffer.from(await copy.arrayBuffer()))]).toEqual([
          200,
          sha256(Buffer.alloc(300_000, 'a')),
        ]);
      }
      // The killed worker's partial file is recognised by its age.
      await waitFor(() => !stored().some((name) => /^[0-9a-f-]{36}$/.test(name)), {
        withinMs: 30_000,
        what: 'partial files to be removed',
      });
      expect(stored()).toHaveLength(2);
      await holdToInvariants(system);
      await age(run);
      system.forget(next);
      await next.stop();
    },
  );

  it('deletes nothing of a live run, however long ago its worker died', async () => {
    results('late');
    const hanging = await system.startWorker({ FAILPOINT: 'copying.beforeFinish:hang' });
    const run = await submit('late');
    await reached(hanging, 'copying.beforeFinish');
    await system.sql(
      `INSERT INTO stored_object (key, owner_id, delete_at) VALUES ('nobodys', gen_random_uuid(), now())`,
    );
    await system.sql(`UPDATE stored_object SET delete_at = now() - interval '2 hours'`);
    await waitFor(async () => (await noted()) === 2, { withinMs: 20_000, what: 'the rest to be deleted' });
    expect(stored()).toHaveLength(2);
    await system.kill(hanging);
    await system.startWorker();
    const { images } = await result(run);
    for (const { url } of images) expect(url).not.toContain(provider.url);
    await holdToInvariants(system);
    await age(run);
    await dismissWorkers(system);
  });

  it('keeps a copy for as long as its link or its result is valid', async () => {
    results('linked');
    await system.startWorker();
    const run = await submit('linked');
    const { images } = await result(run);
    const opens = () => Promise.all(images.map(async ({ url }) => (await fetch(url)).status));
    const aged = await happenedEarlier(system.database.url, run, 1.5);
    expect((await caller.collect(aged)).status).toBe(410);
    const needed = () => system.sql(`SELECT key FROM stored_object WHERE delete_at = 'infinity'`);
    await waitFor(async () => (await needed()).length === 0, {
      withinMs: 20_000,
      what: 'the copies to be marked for deletion',
    });
    expect([await opens(), stored().length]).toEqual([[200, 200], 2]);
    await system.sql(`UPDATE stored_object SET delete_at = delete_at - interval '2 days'`);
    await nothingLeft();
    expect(await opens()).toEqual([404, 404]);
    await dismissWorkers(system);
  });

  it('keeps large inputs and outputs byte for byte, for as long as their result', async () => {
    await system.startWorker();
    const filler = 'é'.repeat(200_000);
    const prompt = `large ${filler}`;
    results(prompt, filler);
    const run = await submit(prompt);
    await caller.completed(run);
    expect(stored().filter((name) => name === 'input' || name === 'output')).toEqual(['input', 'output']);
    const answer = await caller.collect(run);
    expect(answer.headers.get('content-length')).toBe(String(answer.bytes.length));
    const { images, filler: theirs } = answer.json() as { images: { url: string }[]; filler: string };
    expect(theirs).toBe(filler);
    expect((await fetch(images[0]?.url ?? '')).status).toBe(200);
    expect(sha256((await system.payload(run.requestId, 'input')) ?? '')).toBe(sha256(run.body));
    await holdToInvariants(system);
    await age(run);
  });

  it('keeps no input of a rejected call', async () => {
    const poor = await system.caller({ balanceMicros: 0 });
    const body = JSON.stringify({ prompt: 'x'.repeat(300_000) });
    const refused = await poor.call('POST', `/v2/models/${model}/requests`, { body });
    expect([refused.status, refused.bucket]).toEqual([402, 'insufficient_credits']);
    await waitFor(() => stored().length === 0, { withinMs: 10_000, what: 'the input to be deleted' });
  });

  it('keeps only one input for a repeated call', async () => {
    const prompt = 'x'.repeat(300_000);
    results(prompt);
    const repeated = () =>
      caller.submit(model, JSON.stringify({ prompt }), { headers: { 'idempotency-key': 'large' } });
    const [first, second] = [await repeated(), await repeated()];
    expect(second.requestId).toBe(first.requestId);
    await caller.completed(first);
    await waitFor(() => stored().filter((name) => name === 'input').length === 1, {
      withinMs: 10_000,
      what: 'the second input to be deleted',
    });
    await age(first);
  });

  /** Expires the result and everything that belongs to it. */
  async function age(run: Submitted): Promise<void> {
    await happenedEarlier(system.database.url, run, 3);
    await nothingLeft();
  }

  const nothingLeft = () =>
    waitFor(async () => stored().length === 0 && (await noted()) === 0, {
      withinMs: 20_000,
      what: 'everything of the run to be deleted',
    });
});

failOnLeftovers();
