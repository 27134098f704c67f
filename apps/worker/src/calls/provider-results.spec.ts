import { describe, expect, it } from '@jest/globals';
import type { NotedResults, ProviderHealthRepository } from '#persistence';
import type { Outcome, ProviderFailure, Signal } from '#providers';
import type { OwnKeys } from '../keys/own-keys.js';
import { ProviderResults, resultOf } from './provider-results.js';

const reply = (status: number): Signal => ({ status, headers: {}, body: new Uint8Array() });
const failed = (failure: Partial<ProviderFailure>): Outcome => ({
  kind: 'failed',
  failure: { class: 'provider_failed', retry: 'never', ...failure },
});
const handle = { v: 1, step: 'poll' } as const;
const pending: Outcome = { kind: 'pending', handle, afterMs: 0 };
const succeeded: Outcome = {
  kind: 'succeeded',
  output: { mediaType: 'application/json', body: new Uint8Array() },
};

describe('a call says about its provider', () => {
  it.each<[string, Signal, Outcome, ReturnType<typeof resultOf>]>([
    ['nothing while the run is in progress', reply(200), pending, undefined],
    ['that it is well, by a result', reply(200), succeeded, 'ok'],
    ['that it is well, by a rejected input', reply(422), failed({ class: 'rejected_input' }), 'ok'],
    ['that it is well, by its content policy', reply(400), failed({ class: 'content_policy' }), 'ok'],
    [
      'a rejected key, by 401',
      reply(401),
      failed({ class: 'provider_account', account: 'key' }),
      'key_rejected',
    ],
    [
      'a failure, by a 403 that the provider does not document as account trouble',
      reply(403),
      failed({ class: 'provider_account' }),
      'failed',
    ],
    [
      'an empty balance, by 402',
      reply(402),
      failed({ class: 'provider_account', account: 'balance' }),
      'no_balance',
    ],
    [
      'an empty balance, by its words',
      reply(403),
      failed({ class: 'provider_account', account: 'balance' }),
      'no_balance',
    ],
    [
      'a used-up quota, by its words',
      reply(429),
      failed({ class: 'provider_account', account: 'quota' }),
      'no_balance',
    ],
    [
      'a rejected key, by its words',
      reply(200),
      failed({ class: 'provider_account', account: 'key' }),
      'key_rejected',
    ],
    ['throttling, by 429', reply(429), failed({ class: 'provider_unavailable' }), 'throttled'],
    [
      'throttling, by a time to wait',
      reply(503),
      failed({ class: 'provider_unavailable', afterMs: 1_000 }),
      'throttled',
    ],
    ['a failure, by 503', reply(503), failed({ class: 'provider_unavailable' }), 'failed'],
    ['a failure, by 500', reply(500), failed({}), 'failed'],
    [
      'a failure, by silence',
      { fault: 'ambiguous', cause: 'timeout' },
      failed({ class: 'provider_timeout' }),
      'failed',
    ],
    [
      'a failure, by a refused connection',
      { fault: 'not_sent', cause: 'connect' },
      failed({ class: 'provider_unavailable' }),
      'failed',
    ],
    [
      'nothing if it was not called for want of a key',
      { fault: 'not_sent', cause: 'no_key' },
      failed({ class: 'provider_unavailable' }),
      undefined,
    ],
  ])('%s', (_name, signal, outcome, result) => {
    expect(resultOf(signal, outcome)).toBe(result);
  });
});

describe('the results that a worker writes', () => {
  const written: NotedResults[][] = [];
  const states: unknown[] = [];
  const results = new ProviderResults(
    { note: async (each: NotedResults[]) => void written.push(each) } as unknown as ProviderHealthRepository,
    { noteState: (...noted: unknown[]) => states.push(noted) } as unknown as OwnKeys,
    { warn: () => {} },
  );

  it('say nothing about the provider if a workspace’s own key was used, only about the key', async () => {
    const own = { name: 'replicate', key: { name: 'own', secret: 'secret', ownId: 'version' } };
    results.noteCall(own, 'run', reply(401), failed({ class: 'provider_account', account: 'key' }));
    results.noteCall(own, 'run', reply(500), failed({ class: 'provider_failed' }));
    results.noteCall(own, 'run', reply(200), pending);
    expect(states).toEqual([
      ['version', 'rejected'],
      ['version', 'accepted'],
    ]);
    await results.onModuleDestroy();
    expect(written).toEqual([]);
  });

  it('are bounded in number, one for each run, the newest', async () => {
    for (let each = 0; each < 200; each += 1) results.noteRun('bfl', `run-${each}`, 'failed');
    results.noteCall({ name: 'bfl', key: undefined }, 'run-199', reply(200), succeeded);
    results.noteCall({ name: 'fal', key: undefined }, 'run', reply(200), pending);
    await results.onModuleDestroy();
    const [[bfl, fal] = []] = written;
    expect(bfl?.results).toHaveLength(50);
    expect(bfl?.results.at(-1)).toMatchObject({ run: 'run-199', result: 'ok' });
    expect(bfl?.answeredMs).toBeGreaterThanOrEqual(0);
    expect(fal).toEqual({ provider: 'fal', answeredMs: expect.any(Number), results: [] });
  });

  it('are not written if there are none', async () => {
    await results.onModuleDestroy();
    expect(written).toHaveLength(1);
  });
});
