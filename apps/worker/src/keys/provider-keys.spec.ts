import { expect, it } from '@jest/globals';
import { createLog, Metrics } from '#observability';
import type { LiveRun, Poll, ProviderKeyRepository, TakenRun } from '#persistence';
import type { BoundProvider, KeyedProvider, OperatorKey, ProviderFailure } from '#providers';
import type { Providers } from '../providers.js';
import type { OwnKeys } from './own-keys.js';
import { poolOf, ProviderKeys } from './provider-keys.js';

const key = (name: string, weight = 1): OperatorKey => ({ name, secret: `secret-${name}`, weight });
const of = (...keys: OperatorKey[]) => ({ name: 'fal', keys }) as unknown as BoundProvider;

const ownKey = { name: 'own', secret: 'secret-own', ownId: 'o' };
const taken = (keyName: string, ownId?: string) => ({ keyName, facts: { ownKey: ownId } }) as TakenRun;
const polled = (providerKey: string | null, ownId?: string) =>
  ({ providerKey, facts: { ownKey: ownId } }) as LiveRun & Pick<Poll, 'providerKey'>;

/** `freeInMs` and `hasOther`: what the database answers. */
function keys({ freeInMs = 0, hasOther = true } = {}) {
  const written: unknown[][] = [];
  const retired = new Map([['fal gone', key('gone')]]);
  const made = new ProviderKeys(
    { retiredKey: (provider: string, name: string) => retired.get(`${provider} ${name}`) } as Providers,
    {
      cool: async (...values: unknown[]) => {
        written.push(values);
        return freeInMs;
      },
      drop: async (...values: unknown[]) => {
        written.push(values);
        return hasOther;
      },
    } as unknown as ProviderKeyRepository,
    { keyFor: async () => ownKey, keyOf: async () => ownKey } as unknown as OwnKeys,
    new Metrics(),
    { PROVIDER_MAX_PAUSE_MS: 5_000 },
    createLog('worker', 'silent'),
    { warn: () => {} },
  );
  return { made, written };
}

const throttled: ProviderFailure = { class: 'provider_unavailable', retry: 'new_submit', afterMs: 60_000 };
const rejected: ProviderFailure = { class: 'provider_account', account: 'key', retry: 'never' };
const keyed = (provider: BoundProvider, chosen: { name: string; secret: string }): KeyedProvider => ({
  ...provider,
  key: chosen,
});

it('finds the key of a run by its name, also after it was removed', async () => {
  const { made } = keys();
  const pool = of(key('a'), key('b'));
  expect(await made.keyFor(pool, taken('b'))).toMatchObject({ secret: 'secret-b' });
  expect(await made.keyOf(pool, polled('gone'))).toMatchObject({ secret: 'secret-gone' });
  expect(await made.keyOf(pool, polled(null))).toBeUndefined();
  expect(await made.keyOf(of(key('default')), polled(null))).toMatchObject({
    secret: 'secret-default',
  });
});

it('leaves a run with its workspace’s own key to those keys', async () => {
  const { made } = keys();
  expect(await made.keyFor(of(key('a')), taken('a', 'o'))).toBe(ownKey);
  expect(await made.keyOf(of(key('a')), polled('a', 'o'))).toBe(ownKey);
});

it('writes nothing about a key that stands alone, or that is not the operator’s', async () => {
  const { made, written } = keys();
  const alone = key('default');
  expect(poolOf(of(alone))).toBeUndefined();
  const foreign = keyed(of(key('a'), key('b')), { name: 'a', secret: 'of a customer' });
  for (const provider of [keyed(of(alone), alone), foreign]) {
    expect(await made.cool(provider, 'submit', throttled)).toBeUndefined();
    expect(await made.drop(provider, rejected)).toBe(false);
  }
  expect(written).toEqual([]);
});

it('cools a throttled key for a bounded time, and never writes a secret', async () => {
  const { made, written } = keys({ freeInMs: 70 });
  const [a, b] = [key('a'), key('b')];
  expect(await made.cool(keyed(of(a, b), a), 'submit', throttled)).toBe(70);
  expect(await made.cool(keyed(of(a, b), a), 'submit', { ...throttled, afterMs: 0 })).toBeUndefined();
  expect(written).toEqual([
    [
      expect.objectContaining({ provider: 'fal', name: 'a' }),
      'submit',
      5_000,
      [
        { name: 'a', weight: 1 },
        { name: 'b', weight: 1 },
      ],
    ],
  ]);
  expect(JSON.stringify(written)).not.toContain('secret');
});

it('drops a rejected key only if another one can submit, and only if the reply says that the key is the reason', async () => {
  const { made } = keys();
  const [a, b, draining] = [key('a'), key('b'), key('c', 0)];
  expect(await made.drop(keyed(of(a, b), a), rejected)).toBe(true);
  expect(await made.drop(keyed(of(a, draining), a), rejected)).toBe(false);
  expect(await made.drop(keyed(of(a, b), a), { class: 'provider_account', retry: 'never' })).toBe(false);
  expect(await keys({ hasOther: false }).made.drop(keyed(of(a, b), a), rejected)).toBe(false);
});
