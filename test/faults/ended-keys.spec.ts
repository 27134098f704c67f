import { ApiKeyRepository, newApiKey } from '#persistence';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { System } from '../harness/faults.js';
import { Caller, failOnLeftovers, type TestCaller, transports, waitFor } from '../harness/index.js';

describe('keys that end', () => {
  let system: System;
  let caller: TestCaller;
  beforeAll(async () => {
    system = await System.start({ transport: transports()[0] ?? 'postgres', gateways: 2 });
    caller = await system.caller({ backlogLimit: 100_000, windowLimit: 100_000 });
  });
  afterAll(() => system.stop());

  it('are refused within half a second of their end, however they are cached, and so is what they made', async () => {
    const keys = new ApiKeyRepository(system.store);
    const endsMs = Date.now() + 6_000;
    const maker = await keys.create(
      caller.workspaceId,
      { name: 'ends', scopes: ['catalog', 'manage'], expiresAt: new Date(endsMs) },
      { actor: 'test' },
    );
    const { code } = await keys.createCode(caller.workspaceId, ['catalog'], {
      actor: 'test',
      keyId: maker.row.id,
    });
    const session = await keys.exchange(code);
    const holders = [maker.key, session?.key ?? ''].map((key) => new Caller(() => urls(system), key));
    const statuses = async () => {
      const calls = holders.flatMap((holder) =>
        system.gateways.map((_, gateway) => holder.call('GET', '/v2/models', { gateway })),
      );
      return (await Promise.all(calls)).map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    await waitFor(async () => (await statuses()).every((status) => status === 401), {
      withinMs: endsMs + 500 - Date.now(),
      what: 'the keys to be refused',
      everyMs: 20,
    });
    process.stderr.write(`refused ${Date.now() - endsMs} ms after their end\n`);
  });

  it('100 callers who guess codes delay submissions no more than 100 who guess keys', async () => {
    const submits = async (guess: (() => Promise<unknown>) | undefined) => {
      let isOver = false;
      const guessing = Array.from({ length: guess ? 100 : 0 }, async () => {
        while (!isOver) await guess?.();
      });
      const times: number[] = [];
      for (let count = 0; count < 60; count += 1) {
        const beganMs = performance.now();
        await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}', { gateway: 0 });
        times.push(performance.now() - beganMs);
      }
      isOver = true;
      await Promise.all(guessing);
      return Math.round(times.toSorted((a, b) => a - b)[30] ?? 0);
    };
    const [url = ''] = urls(system);
    const post = (path: string, method: string) => () =>
      fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${newApiKey()}` } }).then((answer) =>
        answer.arrayBuffer(),
      );
    const alone = await submits(undefined);
    const besideKeys = await submits(post('/v2/models', 'GET'));
    const besideCodes = await submits(post('/v2/sign-in', 'POST'));
    process.stderr.write(
      `submit p50: alone ${alone} ms, beside unknown keys ${besideKeys} ms, beside unknown codes ${besideCodes} ms\n`,
    );
    expect(besideCodes).toBeLessThan(2 * besideKeys + 50);
  });
});

const urls = (system: System) => system.gateways.map(({ url }) => url);

failOnLeftovers();
