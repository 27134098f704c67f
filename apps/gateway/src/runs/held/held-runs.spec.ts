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

/** Holds calls at a gateway that stops immediately. */
function held(release: () => Promise<Released>, result: () => Promise<never>): HeldRuns {
  return new HeldRuns(
    { result } as unknown as RunReader,
    { begin } as unknown as RunWatch,
    { leaveRun: release } as unknown as RunCancellation,
    new Metrics(),
  );
}

const outcomeOf = (runs: HeldRuns, disconnected = new AbortController().signal) =>
  runs
    .holdRun(async (onAccepted) => {
      onAccepted(run.runId);
      return run;
    }, disconnected)
    .then(({ outcome }) => outcome);

const failing = () => Promise.reject(away);
const broken = () => Promise.reject(new Error('a defect'));
const completed: Released = { found: 'completed', granted: [] };

describe('a call that ends while the database does not answer', () => {
  it.each([
    ['fails', failing],
    ['finds the run completed, but its outcome cannot be read', async () => completed],
  ])(
    'gets deadline_exceeded, not an error that suggests a new run, when the release %s',
    async (_what, release) => {
      await expect(outcomeOf(held(release, failing))).rejects.toMatchObject({ bucket: 'deadline_exceeded' });
    },
  );

  it('is recorded as client_disconnected if its caller left', async () => {
    const left = outcomeOf(held(failing, failing), AbortSignal.abort());
    await expect(left).rejects.toMatchObject({ bucket: 'client_disconnected' });
  });
});

it('a defect is not reported as a run in progress', async () => {
  await expect(outcomeOf(held(broken, broken))).rejects.toThrow('a defect');
});
