import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { ApiKeyRepository } from '#persistence';
import type { Identification } from './identification.js';
import { KeyUses } from './key-uses.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('notes the used keys once a minute and at the end, and goes on after a failure', async () => {
  const rounds = [['a', 'b'], [], ['c'], ['d']];
  const noted: (readonly string[])[] = [];
  const warnings: string[] = [];
  const uses = new KeyUses(
    { takeUsed: () => rounds.shift() ?? [] } as unknown as Identification,
    {
      noteUse: async (ids: readonly string[]) => {
        noted.push(ids);
        if (ids.includes('a')) throw new Error('the database does not answer');
      },
    } as unknown as ApiKeyRepository,
    { warn: (_, text) => warnings.push(text) },
  );
  uses.onApplicationBootstrap();
  expect(noted).toEqual([]);
  await jest.advanceTimersByTimeAsync(180_000);
  expect(noted).toEqual([['a', 'b'], ['c']]);
  expect(warnings).toEqual(['could not note the use of keys']);
  await uses.onApplicationShutdown();
  expect(noted).toEqual([['a', 'b'], ['c'], ['d']]);
  await jest.advanceTimersByTimeAsync(180_000);
  expect(noted).toHaveLength(3);
});
