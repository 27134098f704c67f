import { describe, expect, it } from '@jest/globals';
import { RouterError } from '#errors';
import { Metrics } from '#observability';
import type { Released, RunReader } from '#persistence';
import type { RunCancellation } from '../run-cancellation.js';
import { type RunWatch, Watch } from '../run-watch.js';
import { HeldRuns } from './held-runs.js';

const away = new RouterError('service_unavailable', 'The service is temporarily unavailable; retry later.');
const run = { workspaceId: 'workspace', modelId: 'bfl/flux-2-pro', runId: 'run', replayed: false };

const begin = () =>
  new Watch(
    Infinity,
    () => true,
    () => {},
  );

/** Holds calls until the gateway stops, which it does at once. */
function held(release: () => Promise<Released>, result: () => Promise<never>): HeldRuns {
  return new HeldRuns(
    { result } as unknown as RunReader,
    { begin } as unknown as RunWatch,
    { leaveRun: release } as unknown as RunCancellation,
    new Metrics(),
  );
}

const outcomeOf = (runs: HeldRuns, disconnected = new AbortController().signal) =>
  runs.awaitOutcome(async (onAccepted) => {
    onAccepted(run.runId);
    return run;
  }, disconnected);

const failing = () => Promise.reject(away);
const broken = () => Promise.reject(new Error('a defect'));
const completed: Released = { found: 'completed', granted: [] };

describe('a call that is let go while the database is away', () => {
  it.each([
    ['does not say what became of the run', failing],
    ['says that it is completed, and not how', async () => completed],
  ])('is told that its run goes on, and not to begin another one: it %s', async (_what, release) => {
    await expect(outcomeOf(held(release, failing))).rejects.toMatchObject({ bucket: 'deadline_exceeded' });
  });

  it('is recorded as left by its caller', async () => {
    const left = outcomeOf(held(failing, failing), AbortSignal.abort());
    await expect(left).rejects.toMatchObject({ bucket: 'client_disconnected' });
  });
});

it('what is no trouble of the database is no run that goes on', async () => {
  await expect(outcomeOf(held(broken, broken))).rejects.toThrow('a defect');
});
