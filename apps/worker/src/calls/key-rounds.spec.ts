import { expect, it } from '@jest/globals';
import { Metrics } from '#observability';
import type { ProviderKeyRepository } from '#persistence';
import type { CheckAnswer } from '#providers';
import { setImmediate as turn } from 'node:timers/promises';
import type { ProviderChecks } from './provider-checks.js';
import type { Providers } from '../providers.js';
import { KeyRounds } from './key-rounds.js';

const state = { provider: 'fal', name: 'a', weight: 1, state: 'left' };
const provider = {
  name: 'fal',
  check: {},
  keys: [
    { name: 'a', secret: 'secret-a', weight: 1 },
    { name: 'b', secret: 'secret-b', weight: 1, perMinute: 3 },
  ],
};

/** One round in which the key `a` is due for a check that is answered as given. */
async function round(answer: Partial<CheckAnswer>) {
  const [reported, restored, checked]: [unknown[], unknown[], unknown[]] = [[], [], []];
  const metrics = new Metrics();
  const rounds = new KeyRounds(
    { all: () => [provider], get: () => provider } as unknown as Providers,
    {
      report: async (keys: unknown[]) => void reported.push(...keys),
      list: async () => [state],
      takeChecks: async () => [{ provider: 'fal', name: 'a' }],
      restore: async (key: unknown) => restored.push(key) > 0,
    } as unknown as ProviderKeyRepository,
    {
      checkKey: async (_provider: unknown, { secret }: { secret: string }) => {
        checked.push(secret);
        return answer;
      },
    } as unknown as ProviderChecks,
    metrics,
    { warn: () => {} },
  );
  rounds.onApplicationBootstrap();
  for (let count = 0; count < 20; count += 1) await turn();
  await rounds.onModuleDestroy();
  return { reported, restored, checked, text: await metrics.registry.metrics() };
}

it('reports keys without their secrets, and shows their states', async () => {
  const { reported, text } = await round({ result: 'rejected' });
  expect(reported).toEqual([
    { provider: 'fal', name: 'a', weight: 1 },
    { provider: 'fal', name: 'b', weight: 1, perMinute: 3 },
  ]);
  expect(text).toContain('router_provider_key_state{provider="fal",key="a",state="left"} 1');
  expect(text).toContain('router_provider_key_state{provider="fal",key="a",state="ready"} 0');
});

it.each<[string, Partial<CheckAnswer>, boolean]>([
  ['that is accepted', { result: 'ok' }, true],
  ['with a balance', { result: 'ok', balance: { amount: 3, unit: 'USD' } }, true],
  ['without a balance', { result: 'ok', balance: { amount: 0, unit: 'USD' } }, false],
  ['whose quota is used up', { result: 'ok', detail: 'It is used up.' }, false],
  ['that is rejected', { result: 'rejected' }, false],
  ['that is not answered', { result: 'unreachable' }, false],
])('checks a key that has left, and restores one %s: %s', async (_what, answer, isRestored) => {
  const { restored, checked } = await round(answer);
  expect(checked).toEqual(['secret-a']);
  expect(restored).toEqual(isRestored ? [{ provider: 'fal', name: 'a' }] : []);
});
