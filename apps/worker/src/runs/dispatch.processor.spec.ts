import { expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import type { JobResult, RunQueues } from '#queue';
import type { Providers } from '../providers.js';
import type { Claims } from './claims.js';
import { DispatchProcessor } from './dispatch.processor.js';
import type { Outcomes } from './outcomes.js';
import type { Submission } from './submission.js';
import type { WaitingLine, WaitingRun } from './waiting-line.js';

const done: JobResult = { kind: 'done' };

/** A promise, and what resolves it. */
function later<T>() {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => (settle = resolve));
  return { promise, resolve: (value: T) => settle?.(value) };
}

/** A worker whose slots are taken: what is delivered to it waits in the line. */
function processor() {
  const look = later<WaitingRun[]>();
  const submission = later<JobResult>();
  let isPaused = false;
  let looks = 0;
  class Exposed extends DispatchProcessor {
    // What the framework provides when it registers a processor.
    override get worker() {
      return {
        isPaused: () => isPaused,
        shutDown: async () => void (isPaused = true),
      } as never;
    }
    delivered(): Promise<JobResult> {
      return this.handle(
        { runId: 'late', provider: 'fal', mayHaveCrashed: false },
        new AbortController().signal,
      );
    }
  }
  const stopping = new Exposed(
    { get: () => ({ name: 'fal' }) } as unknown as Providers,
    {
      acquire: () => null,
      join: async () => {},
      isAwaited: () => true,
      findAwaited: async () => [],
      next: async () => ((looks += 1) === 1 ? look.promise : []),
    } as unknown as WaitingLine,
    {
      claim: async () => ({ kind: 'claimed', provider: 'fal', workspaceId: 'w' }),
      hold: () => ({ [Symbol.dispose]: () => {} }),
    } as unknown as Claims,
    { submit: () => submission.promise } as unknown as Submission,
    {} as Outcomes,
    {} as RunQueues,
    { WORKER_CLOSE_MS: 60_000 },
    { warn: () => {} },
  );
  return { stopping, look, submission };
}

it('waits for the submission of a run that was being taken from the line when the stop began', async () => {
  const { stopping, look, submission } = processor();
  await stopping.delivered();
  let hasStopped = false;
  const stopped = stopping.onModuleDestroy().then(() => (hasStopped = true));
  await turn();
  look.resolve([{ runId: 'first', slot: { workspaceId: null, release: () => {} } }]);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  expect(hasStopped).toBe(false);
  submission.resolve(done);
  await stopped;
});
