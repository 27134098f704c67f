import { describe, expect, it } from '@jest/globals';
import { createLog } from '#observability';
import type { RunRepository } from '#persistence';
import type { JobResult } from '#queue';
import type { ProviderCall } from '../calls/provider-call.js';
import type { Providers } from '../providers.js';
import type { WorkerSettings } from '../settings.js';
import type { Outcomes } from './outcomes.js';
import { PollProcessor } from './poll.processor.js';
import type { ProviderBackoff } from './provider-backoff.js';

const handle = { v: 1, step: 'poll' };
const row = {
  stage: 'running',
  epoch: 3,
  provider: 'fal',
  facts: { assets: [], chargesOnPolicyRejection: 'no', reported: [] },
  handle,
  overdue: false,
  leftMs: 60_000,
  cancelDue: true,
  cancelRequested: true,
  lostPolls: 0,
  pausedMs: null,
};
const adapter = { resume: () => ({}), onResume: () => ({}), cancel: () => ({ method: 'PUT', url: 'x' }) };

/** The calls that were made and what was written, when the partner answers the cancellation like this. */
async function poll(answer: Awaited<ReturnType<ProviderCall['cancel']>>) {
  const made: string[] = [];
  class Exposed extends PollProcessor {
    // What the framework provides when it registers a processor.
    override get worker() {
      return { concurrency: 0, host: { log: createLog('worker', 'silent') } } as never;
    }
    delivered(): Promise<JobResult> {
      return this.handle({ runId: 'run', provider: 'fal', crashes: 0 }, new AbortController().signal);
    }
  }
  const processor = new Exposed(
    {
      readForPoll: async () => row,
      noteCancelSent: async () => made.push('noted'),
    } as unknown as RunRepository,
    {} as Outcomes,
    {
      withShare: (work: (share: object) => unknown) => work({}),
      cancel: async () => made.push('cancelled') && answer,
      resume: async () => made.push('polled') && { outcome: { kind: 'pending', handle, afterMs: 1000 } },
    } as unknown as ProviderCall,
    {} as ProviderBackoff,
    { get: () => ({ name: 'fal', adapter }) } as unknown as Providers,
    {
      WORKER_POLL_CONCURRENCY: 1,
      PROVIDER_POLL_TIMEOUT_MS: 1000,
      PROVIDER_POLL_PAUSE_MS: 5000,
    } as WorkerSettings,
  );
  return { result: await processor.delivered(), made };
}

describe('a cancellation that is to be passed on', () => {
  it('is noted when it has left, and the run is looked at again at once', async () => {
    expect(await poll('unknown')).toEqual({
      result: { kind: 'retry', delayMs: 0 },
      made: ['cancelled', 'noted'],
    });
  });

  it('stays due when nothing has reached the partner, and the run is polled as ever', async () => {
    expect(await poll(null)).toEqual({
      result: { kind: 'retry', delayMs: 1000 },
      made: ['cancelled', 'polled'],
    });
  });
});
