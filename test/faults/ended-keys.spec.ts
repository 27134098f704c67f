import { ApiKeyRepository } from '#persistence';
import { expect, it } from '@jest/globals';
import { newApiKey } from '../../libs/persistence/src/key-format.js';
import { Caller, waitFor } from '../harness/index.js';
import { gatewayForFile } from '../routes/gateways.js';

const gateway = gatewayForFile();

it('an expired key is rejected within half a second, even if it is cached, and so is its session', async () => {
  const { workspace } = await gateway().caller();
  const keys = new ApiKeyRepository(gateway().database);
  const endsMs = Date.now() + 10_000;
  const facts = { name: 'ends', scopes: ['catalog', 'manage'], expiresAt: new Date(endsMs) };
  const maker = await keys.create(workspace.id, facts, { actor: 'test' });
  const by = { actor: 'test', keyId: maker.row.id };
  const session = await keys.exchange((await keys.createCode(workspace.id, ['catalog'], by)).code);
  const holders = [maker.key, session?.key ?? ''].map((key) => new Caller(() => [gateway().url], key));
  const statuses = () =>
    Promise.all(holders.map(async (holder) => (await holder.call('GET', '/v2/models?limit=1')).status));
  expect(await statuses()).toEqual([200, 200]);
  await waitFor(async () => (await statuses()).every((status) => status === 401), {
    withinMs: endsMs + 500 - Date.now(),
    what: 'the keys to be rejected',
    everyMs: 20,
  });
  process.stderr.write(`rejected ${Date.now() - endsMs} ms after their expiry\n`);
});

it('guessing sign-in codes delays submissions no more than guessing keys', async () => {
  const { caller } = await gateway().caller({ windowLimit: 100_000 });
  const guesses = (method: string, path: string) => async () => {
    const headers = { authorization: `Bearer ${newApiKey()}` };
    const answer = await fetch(`${gateway().url}${path}`, { method, headers });
    await answer.arrayBuffer();
    expect(answer.status).toBe(401);
  };
  /** The median time of a submission while 100 connections guess. */
  const submissionMs = async (guess?: () => Promise<void>) => {
    const over = new AbortController();
    const guessing = Array.from({ length: guess ? 100 : 0 }, async () => {
      while (!over.signal.aborted) await guess?.();
    });
    const times: number[] = [];
    while (times.length < 60) {
      const beganMs = performance.now();
      await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
      times.push(performance.now() - beganMs);
    }
    over.abort();
    await Promise.all(guessing);
    return Math.round(times.toSorted((a, b) => a - b)[30] ?? 0);
  };
  const alone = await submissionMs();
  const besideKeys = await submissionMs(guesses('GET', '/v2/models'));
  const besideCodes = await submissionMs(guesses('POST', '/v2/sign-in'));
  process.stderr.write(
    `submission p50: alone ${alone} ms, beside unknown keys ${besideKeys} ms, beside unknown codes ${besideCodes} ms\n`,
  );
  expect(besideCodes).toBeLessThan(2 * besideKeys + 50);
});
