import { expect, it } from '@jest/globals';
import { type DeliveredRun, RunProcessor } from './run.processor.js';
import type { JobResult, RunJob } from './run-worker.js';

it('declares the signal parameter, without which BullMQ passes none', () => {
  expect(RunProcessor.prototype).toHaveProperty('process.length', 3);
});

const runId = '0197c2a4-0000-7000-8000-000000000001';

/** The deliveries of a job with these members. */
async function delivered(job: object): Promise<DeliveredRun[]> {
  const runs: DeliveredRun[] = [];
  class Exposed extends RunProcessor {
    readonly queue = 'poll';
    readonly closeGraceMs = 0;
    override get worker() {
      const context = { activity: { during: (work: () => unknown) => work() } };
      return { context, lateness: { taken: () => {}, putOff: () => {} }, isPaused: () => false } as never;
    }
    protected async handle(run: DeliveredRun): Promise<JobResult> {
      runs.push(run);
      return { kind: 'done' };
    }
  }
  await new Exposed().process({ id: runId, name: 'fal', data: {}, stalledCounter: 0, ...job } as RunJob);
  return runs;
}

it('takes only the run and a hint about crashes from a job', async () => {
  expect(await delivered({})).toEqual([{ runId, provider: 'fal', mayHaveCrashed: false }]);
  expect(await delivered({ data: { crashes: 1000 } })).toEqual([
    { runId, provider: 'fal', mayHaveCrashed: true },
  ]);
});

it.each([{ id: 'x' }, { id: `${runId}'` }, { name: 'no provider' }, { name: 'x'.repeat(65) }])(
  'drops a job that is not ours: %p',
  async (job) => expect(await delivered(job)).toEqual([]),
);
