import { Metrics } from '#observability';
import type { DispatchRepository, SweptRun, TakenRun } from '#persistence';
import type { RunQueues } from '#queue';
import { expect, it, jest } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import type { Providers } from '../providers.js';
import type { Claims } from './claims.js';
import { Dispatcher } from './dispatcher.js';
import type { Outcomes, Submitted } from './outcomes.js';
import type { Submission } from './submission.js';

type Take = Parameters<DispatchRepository['takeRuns']>[1];

/** A promise and the function that resolves it. */
function later<T>() {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => (settle = resolve));
  return { promise, resolve: (value: T) => settle?.(value) };
}

const turns = async () => {
  for (let count = 0; count < 20; count += 1) await turn();
};

const runOf = (workspaceId: string, runId = 'run') =>
  ({ runId, workspaceId, epoch: 1, provider: 'fal', crashes: 0, waitedMs: 1 }) as unknown as TakenRun;

interface Given {
  slots?: number;
  take?: (terms: Take) => Promise<TakenRun[]> | TakenRun[];
  swept?: SweptRun[];
  isSuspect?: boolean;
  nowMs?: () => number;
}

/** A dispatcher with a scripted repository. The test wakes it and ends its submissions. */
function dispatcher({ slots = 8, take = () => [], swept = [], isSuspect = false, nowMs = () => 0 }: Given) {
  const sweeps: object[] = [];
  let wake: ((provider: string) => void) | undefined;
  const takes: Take[] = [];
  const woken: string[] = [];
  const submissions: { run: TakenRun; end: (result: Submitted) => void }[] = [];
  const said: unknown[] = [];
  const outcomes = {
    giveUp: async (run: SweptRun) => void said.push(['giveUp', run.runId]),
    failUnsent: async (run: SweptRun) => void said.push(['failUnsent', run.runId]),
    postpone: async (run: TakenRun, afterMs: number) => {
      said.push(['postpone', run.runId, afterMs]);
      return { kind: 'done' };
    },
  };
  const metrics = new Metrics();
  const made = new Dispatcher(
    {
      get: (name: string) =>
        name === 'unknown' ? undefined : { name, keys: [{ name: 'default', secret: 'key' }] },
    } as unknown as Providers,
    {
      takeRuns: async (_provider: string, terms: Take) => {
        takes.push({ ...terms, held: new Map(terms.held) });
        return take(terms);
      },
      readClock: async () => new Date(nowMs()),
      sweep: async (_most: number, _leaseMs: number, asked: object) => {
        sweeps.push(asked);
        return swept.splice(0);
      },
      linesToLookAt: async () => [],
    } as unknown as DispatchRepository,
    {
      hold: () => (isSuspect ? null : { [Symbol.dispose]: () => {} }),
    } as unknown as Claims,
    {
      submit: (_provider: unknown, run: TakenRun) => new Promise((end) => submissions.push({ run, end })),
    } as unknown as Submission,
    outcomes as unknown as Outcomes,
    {
      onWakeUp: (heard: (provider: string) => void) => {
        wake = heard;
        return { close: async () => {} };
      },
      wake: (provider: string) => void woken.push(provider),
    } as unknown as RunQueues,
    metrics,
    {
      WORKER_DISPATCH_CONCURRENCY: slots,
      CLAIM_LEASE_MS: 1_000,
      WORKER_CLOSE_MS: 60_000,
      ENCRYPTION_KEYS: [],
    },
    { warn: (...words: unknown[]) => said.push(words) },
  );
  made.takeRuns(true);
  return {
    made,
    wake: (provider = 'fal') => wake?.(provider),
    takes,
    woken,
    submissions,
    said,
    metrics,
    sweeps,
  };
}

it('takes half of the free slots at a time, wakes another worker, and repeats until no run waits', async () => {
  const line = Array.from({ length: 5 }, (_each, nth) => runOf(`w${nth}`, `run-${nth}`));
  const { made, wake, takes, woken, submissions } = dispatcher({ take: ({ most }) => line.splice(0, most) });
  wake();
  await turns();
  expect(takes.map(({ most }) => most)).toEqual([4, 2]);
  expect(woken).toEqual(['fal']);
  expect(submissions).toHaveLength(5);
  for (const { end } of submissions) end({ kind: 'done' });
  await made.onModuleDestroy();
});

it('gives a workspace at most three quarters of the slots, and another run when one of them is released', async () => {
  const { made, wake, takes, submissions } = dispatcher({
    take: ({ most, held, maxHeld }) =>
      Array.from({ length: Math.min(most, maxHeld - (held.get('crowd') ?? 0)) }, () => runOf('crowd')),
  });
  wake();
  await turns();
  expect(submissions).toHaveLength(6);
  const looks = takes.length;
  submissions[0]?.end({ kind: 'done' });
  await turns();
  expect(takes[looks]).toMatchObject({ held: new Map([['crowd', 5]]), maxHeld: 6 });
  expect(submissions).toHaveLength(7);
  for (const { end } of submissions) end({ kind: 'done' });
  await turns();
  for (const { end } of submissions) end({ kind: 'done' });
  void made;
});

it('looks again for a workspace whose submissions finished while its share limited a look', async () => {
  const look = later<TakenRun[]>();
  const looks = [Array.from({ length: 4 }, () => runOf('crowd')), [runOf('crowd')], look.promise];
  const { wake, takes, submissions } = dispatcher({ take: () => looks.shift() ?? [] });
  wake();
  await turns();
  wake();
  await turns();
  for (const { end } of submissions) end({ kind: 'done' });
  await turns();
  look.resolve([runOf('crowd')]);
  await turns();
  expect(takes.map(({ most, held }) => [most, held.get('crowd')])).toEqual([
    [4, undefined],
    [2, 4],
    [2, 5],
    [4, 1],
  ]);
  submissions.at(-1)?.end({ kind: 'done' });
});

it('lets any workspace use the only slot of a provider', async () => {
  const { wake, takes } = dispatcher({ slots: 1 });
  wake();
  await turns();
  expect(takes).toMatchObject([{ most: 1, maxHeld: 1 }]);
});

it('looks once at a time, and once more if it was woken meanwhile', async () => {
  const look = later<TakenRun[]>();
  let looks = 0;
  const { wake, takes } = dispatcher({ take: () => ((looks += 1) === 1 ? look.promise : []) });
  wake();
  wake();
  wake();
  await turns();
  expect(takes).toHaveLength(1);
  look.resolve([]);
  await turns();
  expect(takes).toHaveLength(2);
});

it('takes no runs of a provider that it does not know', async () => {
  const { wake, takes } = dispatcher({});
  wake('unknown');
  await turns();
  expect(takes).toEqual([]);
});

it('postpones a suspect while another one is dispatched', async () => {
  const line = [runOf('w')];
  const { wake, said, submissions } = dispatcher({ take: () => line.splice(0), isSuspect: true });
  wake();
  await turns();
  expect(said).toEqual([['postpone', 'run', 1_000]]);
  expect(submissions).toEqual([]);
});

it('ends the runs that a sweep found, without a slot, and counts those of dead workers', async () => {
  const swept = (['lapsed', 'abandoned', 'spent'] as const).map(
    (kind) => ({ kind, runId: kind }) as unknown as SweptRun,
  );
  const { said, metrics } = dispatcher({ slots: 1, swept });
  await turns();
  expect(said).toEqual([
    ['giveUp', 'abandoned'],
    ['failUnsent', 'spent'],
  ]);
  const { values } = await metrics.redelivered.get();
  expect(values).toEqual([{ labels: { queue: 'dispatch' }, value: 1 }]);
});

it('gives every lease two rounds of renewals after the database answers again', async () => {
  const times = [1_000, 2_000, 9_000, 10_000, 11_000];
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const { sweeps } = dispatcher({ nowMs: () => times.shift() ?? 0 });
  while (times.length > 0) {
    await turns();
    jest.advanceTimersByTime(1_000);
  }
  jest.useRealTimers();
  const from = sweeps.map((asked) => (asked as { judgesFrom: Date }).judgesFrom.getTime());
  expect(from.slice(0, 4)).toEqual([1_667, 1_667, 9_667, 9_667].map((ms) => expect.closeTo(ms, -1)));
});

it('sweeps once a second, also after a pause', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const { made, sweeps } = dispatcher({});
  await turns();
  made.takeRuns(false);
  made.takeRuns(true);
  await turns();
  jest.advanceTimersByTime(1_000);
  await turns();
  jest.useRealTimers();
  expect(sweeps).toHaveLength(2);
});

it('waits on shutdown for a run that was being taken when the shutdown began, and takes no more', async () => {
  const look = later<TakenRun[]>();
  const { made, wake, takes, submissions } = dispatcher({ take: () => look.promise });
  wake();
  let hasStopped = false;
  const stopped = made.onModuleDestroy().then(() => (hasStopped = true));
  look.resolve([runOf('w')]);
  await turns();
  expect(hasStopped).toBe(false);
  submissions[0]?.end({ kind: 'done' });
  await stopped;
  wake();
  await turns();
  expect(takes).toHaveLength(1);
});
