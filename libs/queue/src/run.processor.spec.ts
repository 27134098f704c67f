import { expect, it } from '@jest/globals';
import { Metrics } from '#observability';
import { type DeliveredRun, RunProcessor } from './run.processor.js';
import { done, type JobResult, putBackFor, retryIn, type RunJob } from './run-worker.js';

it('declares the signal parameter, without which BullMQ passes none', () => {
  expect(RunProcessor.prototype).toHaveProperty('process.length', 3);
});

const runId = '0197c2a4-0000-7000-8000-000000000001';

/** Processes a job with these members. */
async function processed(members: object, { result = done, isPaused = false } = {}) {
  const runs: DeliveredRun[] = [];
  const metrics = new Metrics();
  class Exposed extends RunProcessor {
    readonly queue = 'poll';
    readonly closeGraceMs = 0;
    // The framework injects it.
    override metrics = metrics;
    override get worker() {
      const context = { activity: { during: (work: () => unknown) => work() } };
      return { context, isPaused: () => isPaused } as never;
    }
    protected async handle(run: DeliveredRun): Promise<JobResult> {
      runs.push(run);
      return result;
    }
  }
  const job = { id: runId, name: 'fal', data: {}, stalledCounter: 0, ...members } as RunJob;
  const returned = await new Exposed().process(job);
  const samples = async (histogram: 'queueWaitSeconds' | 'pollLatenessSeconds') =>
    (await metrics[histogram].get()).values
      .filter(({ metricName }) => metricName?.endsWith('_sum'))
      .map(({ labels, value }) => ({ ...labels, value }));
  return { runs, job, returned, samples };
}
const delivered = async (job: object) => (await processed(job)).runs;

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

it('measures a job against the due time in its data, whichever worker wrote it', async () => {
  const { samples } = await processed({ data: { dueAtMs: Date.now() - 3_600_000 } });
  expect(await samples('pollLatenessSeconds')).toEqual([
    { provider: 'fal', value: expect.closeTo(3600, -2) },
  ]);
  expect(await samples('queueWaitSeconds')).toEqual([{ queue: 'poll', value: expect.closeTo(3600, -2) }]);
});

it('counts a job as on time that was brought forward', async () => {
  const { samples } = await processed({ data: { dueAtMs: Date.now() + 3_600_000 } });
  expect(await samples('pollLatenessSeconds')).toEqual([{ provider: 'fal', value: 0 }]);
});

it.each([{ data: {} }, { data: { dueAtMs: 'now' } }, { data: { dueAtMs: 0 }, stalledCounter: 1 }])(
  'does not measure a job without a due time, or whose worker died: %p',
  async (job) => {
    const { samples } = await processed(job);
    expect([await samples('pollLatenessSeconds'), await samples('queueWaitSeconds')]).toEqual([[], []]);
  },
);

it('puts a job back as still due if its worker was paused', async () => {
  const { returned, runs } = await processed({}, { isPaused: true });
  expect([returned, runs]).toEqual([putBackFor(0), []]);
});

it('counts the deaths of a job’s workers until it is handled, and keeps its other data', async () => {
  const died = await processed({ data: { dueAtMs: 5 }, stalledCounter: 2 });
  expect([died.job.data, died.runs]).toEqual([{ dueAtMs: 5, stallsSeen: 2, crashes: 2 }, []]);
  const handled = await processed(died.job, { result: retryIn(1) });
  expect(handled.job.data).toEqual({ dueAtMs: 5, stallsSeen: 2, crashes: 0 });
});
