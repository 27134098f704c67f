import type { OutboxRepository } from '#persistence';
import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { WaitingLine } from './waiting-line.js';

/** A line in which one workspace's runs wait without end, and what each look at it allowed. */
function crowdedLine(slots: number) {
  const allowed: { held: number; max: number }[] = [];
  const outbox: Pick<OutboxRepository, 'waitForSlot' | 'takeWaitingRuns' | 'awaitedProviders'> = {
    waitForSlot: async () => {},
    awaitedProviders: async () => ['p'],
    takeWaitingRuns: async (_provider, byWorkspace, { maxHeld, limit }) => {
      const held = byWorkspace.get('crowd') ?? 0;
      allowed.push({ held, max: maxHeld });
      const length = Math.max(0, Math.min(limit, maxHeld - held));
      return {
        runs: Array.from({ length }, () => ({ runId: 'run', workspaceId: 'crowd' })),
        othersWait: true,
      };
    },
  };
  const settings = { WORKER_DISPATCH_CONCURRENCY: slots, CLAIM_LEASE_MS: 1_000 };
  return { line: new WaitingLine(outbox as OutboxRepository, settings), allowed };
}

it('gives a workspace three quarters of the slots, and no more', async () => {
  const { line } = crowdedLine(8);
  await line.join('p', 'run');
  const taken = await line.next('p');
  expect(taken).toHaveLength(6);
  expect(await line.next('p')).toEqual([]);
  taken[0]?.slot.release();
  expect(await line.next('p')).toHaveLength(1);
});

it('counts a run that is being claimed as anybody’s', async () => {
  const { line, allowed } = crowdedLine(8);
  const claiming = [line.acquire('p'), line.acquire('p')];
  await line.join('p', 'run');
  await line.next('p');
  expect(allowed.at(-1)).toEqual({ held: 0, max: 4 });
  if (claiming[0]) claiming[0].workspaceId = 'other';
  await line.next('p');
  expect(allowed.at(-1)).toEqual({ held: 4, max: 5 });
});

it('lets nobody pass those who wait', async () => {
  const { line } = crowdedLine(8);
  expect(line.acquire('p')).not.toBeNull();
  await line.join('p', 'run');
  expect(line.acquire('p')).toBeNull();
  expect(line.acquire('another')).not.toBeNull();
});

it('is awaited once a run has joined, whatever a look saw meanwhile', async () => {
  const marking = new AbortController();
  const outbox: Pick<OutboxRepository, 'waitForSlot' | 'takeWaitingRuns'> = {
    waitForSlot: async () => void (await once(marking.signal, 'abort')),
    takeWaitingRuns: async () => ({ runs: [], othersWait: false }),
  };
  const settings = { WORKER_DISPATCH_CONCURRENCY: 2, CLAIM_LEASE_MS: 1_000 };
  const line = new WaitingLine(outbox as OutboxRepository, settings);
  const joined = line.join('p', 'run');
  await line.next('p');
  marking.abort();
  await joined;
  expect(line.isAwaited('p')).toBe(true);
});

it('leaves the only slot of a provider to whoever needs it', async () => {
  const { line } = crowdedLine(1);
  expect(line.acquire('p')).not.toBeNull();
});
