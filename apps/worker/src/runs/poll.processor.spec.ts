import { describe, expect, it, jest } from '@jest/globals';
import { createLog, type Tracing } from '#observability';
import type { RunRepository } from '#persistence';
import type { ReadReply } from '#providers';
import { done, type JobResult } from '#queue';
import type { Payloads } from '../bytes/payloads.js';
import type { ProviderResults } from '../calls/provider-results.js';
import type { ProviderCall } from '../calls/provider-call.js';
import type { Unread } from '../calls/reply-reader.js';
import type { ProviderKeys } from '../keys/provider-keys.js';
import type { Providers } from '../providers.js';
import type { WorkerSettings } from '../settings.js';
import type { Outcomes } from './outcomes.js';
import { PollProcessor } from './poll.processor.js';

const log = createLog('worker', 'silent');
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
  slowReadings: 0,
  crashes: 0,
  pausedMs: null,
};
const disposable = { [Symbol.dispose]: () => {} };
const adapter = { resume: () => ({}), onResume: () => ({}), cancel: () => ({ method: 'PUT', url: 'x' }) };

type Read = ReadReply;
const pending: Read['outcome'] = { kind: 'pending', handle: { v: 1, step: 'poll' }, afterMs: 1000 };

/** Processes one poll, in which the provider answers as given, and returns the calls and writes made. */
/** The results that the last poll noted besides those of its calls. */
const noted: string[] = [];

async function poll(
  answer: Awaited<ReturnType<ProviderCall['cancel']>>,
  outcome: Read['outcome'] = pending,
  more: Partial<Record<keyof typeof row, unknown>> = {},
  { unread, mayHaveCrashed = false }: { unread?: Unread; mayHaveCrashed?: boolean } = {},
) {
  const made: string[] = [];
  noted.length = 0;
  const ended = (as: string) => made.push(as) && done;
  class Exposed extends PollProcessor {
    // The framework injects it.
    override log = log;
    delivered(): Promise<JobResult> {
      return this.handle({ runId: 'run', provider: 'fal', mayHaveCrashed }, new AbortController().signal);
    }
  }
  const processor = new Exposed(
    {
      readForPoll: async () => ({ ...row, ...more }),
      noteCancelSent: async () => made.push('noted'),
      notePoll: async (_id: string, _epoch: number, lost: number) => made.push(`lost ${lost}`),
      noteSlowReading: async () => made.push('slow'),
      noteAttempt: async () => made.push('counted'),
      forgetCrashes: async () => made.push('forgotten'),
      saveHandle: async () => made.push('saved') && { cancelRequested: false },
    } as unknown as RunRepository,
    {
      failInternally: async () => ended('internal_error'),
      loseAnswer: async () => ended('internal_error'),
      takeOutput: async () => ended('taken'),
      failRun: async (_run: object, failure: { class: string }) => ended(failure.class),
      pauseCalls: async () => {},
      countAccountTrouble: ({ provider }: { provider: string }, failure: { class: string }) =>
        failure.class === 'provider_account' && made.push(`alerted of ${provider}`),
    } as unknown as Outcomes,
    { openShare: () => disposable } as unknown as Payloads,
    {
      cancel: async () => made.push('cancelled') && answer,
      resume: async () => made.push('polled') && (unread ?? { outcome }),
      readKept: async () => {
        made.push('read');
        return unread ?? { outcome };
      },
      noteExpiry: (_provider: object, _runId: string, phase: string) => made.push(`${phase} expired`),
    } as unknown as ProviderCall,
    {
      noteRun: (_provider: string, _id: string, result: string) => noted.push(result),
    } as unknown as ProviderResults,
    { get: () => ({ name: 'fal', adapter }) } as unknown as Providers,
    {
      keyOf: async () => ({ name: 'default', secret: 'key' }),
      drop: async () => false,
      cool: async () => undefined,
    } as unknown as ProviderKeys,
    {
      WORKER_POLL_CONCURRENCY: 1,
      PROVIDER_POLL_TIMEOUT_MS: 1000,
      PROVIDER_POLL_PAUSE_MS: 5000,
      MAX_POLL_CRASHES: 10,
    } as WorkerSettings,
    { start: () => disposable } as unknown as Tracing,
  );
  return { result: await processor.delivered(), made };
}

describe('a cancellation that is due', () => {
  it('is sent after a poll, is noted once sent, and the run is polled again at once', async () => {
    expect(await poll('unknown')).toEqual({
      result: { kind: 'retry', delayMs: 0 },
      made: ['polled', 'cancelled', 'noted'],
    });
  });

  it('stays due if nothing reached the provider, and the run is polled as usual', async () => {
    expect(await poll(null)).toEqual({
      result: { kind: 'retry', delayMs: 1000 },
      made: ['polled', 'cancelled'],
    });
  });

  it('does not wait for a pause that the provider requested', async () => {
    expect((await poll('unknown', pending, { pausedMs: 30_000 })).made).toEqual([
      'polled',
      'cancelled',
      'noted',
    ]);
  });

  it('is not sent for a finished generation, which the provider might delete', async () => {
    const output = { mediaType: 'application/json', body: new Uint8Array() };
    expect(await poll('unknown', { kind: 'succeeded', output })).toEqual({
      result: { kind: 'done' },
      made: ['polled', 'taken'],
    });
  });
});

it('a clock that is set forward during a poll does not use up the time budget', async () => {
  const nowMs = Date.now();
  let looks = 0;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => nowMs + 3_600_000 * (looks += 1));
  const polled = await poll(null, pending, { cancelDue: false, cancelRequested: false });
  clock.mockRestore();
  expect(polled).toEqual({ result: { kind: 'retry', delayMs: 1000 }, made: ['polled'] });
});

it('a poll that finds the run in progress forgets the lost polls before it, and otherwise writes nothing', async () => {
  const quiet = { cancelDue: false, cancelRequested: false };
  expect((await poll(null, pending, { ...quiet, lostPolls: 2 })).made).toEqual(['polled', 'lost 0']);
  expect((await poll(null, pending, quiet)).made).toEqual(['polled']);
});

it('a poll that rejects our account alerts the operator and does not end the run', async () => {
  const refused = { class: 'provider_account', retry: 'same_call' } as const;
  const running = { cancelDue: false, cancelRequested: false };
  expect(await poll(null, { kind: 'failed', failure: refused }, running)).toEqual({
    result: { kind: 'retry', delayMs: 2000 },
    made: ['polled', 'alerted of fal'],
  });
});

it('polls that reject our account until the time budget is spent end the run with provider_account', async () => {
  const refused = { class: 'provider_account', retry: 'same_call' } as const;
  const overdue = { overdue: true, leftMs: -500, cancelDue: false, cancelRequested: false };
  const { result, made } = await poll(null, { kind: 'failed', failure: refused }, overdue);
  expect([result, made]).toEqual([{ kind: 'done' }, ['polled', 'provider_account']]);
});

describe('a run that its provider has finished when the time budget is spent', () => {
  const overdue = { overdue: true, leftMs: -500, cancelDue: false, cancelRequested: false };
  const away = { class: 'provider_unavailable', retry: 'same_call' } as const;
  const look = (step: 'poll' | 'fetch', lostPolls: number) =>
    poll(null, { kind: 'failed', failure: away }, { ...overdue, handle: { v: 1, step }, lostPolls });

  it('is fetched up to three times', async () => {
    expect(await look('fetch', 0)).toEqual({
      result: { kind: 'retry', delayMs: 2000 },
      made: ['polled', 'lost 1'],
    });
    expect((await look('fetch', 1)).made).toEqual(['polled', 'lost 2']);
    expect((await look('fetch', 2)).made).toEqual(['polled', 'fetch expired', 'provider_timeout']);
  });

  it('fails at once if no poll has seen it done', async () => {
    expect((await look('poll', 0)).made).toEqual(['polled', 'poll expired', 'provider_timeout']);
  });

  it('counts against the provider, which did not finish it in time', async () => {
    const idle = { cancelDue: false, cancelRequested: false };
    await poll(null, pending, { overdue: true, leftMs: -500, ...idle });
    expect(noted).toEqual(['failed']);
    await poll(null, pending, idle);
    expect(noted).toEqual([]);
  });
});

describe('an unread large reply', () => {
  const idle = { cancelDue: false, cancelRequested: false };
  const overdue = { ...idle, overdue: true, leftMs: -1 };
  const kept = { handle: { v: 2, step: 'read', status: 200, headers: {} } };
  const again = { kind: 'retry', delayMs: 2000 };
  const read = async (outcome: Read['outcome']) => (await poll(null, outcome, { ...overdue, ...kept })).made;

  it.each([
    ['busy', ['polled']],
    ['late', ['polled', 'slow']],
  ] as const)('is polled again if the thread is %s, even after the time budget', async (unread, made) => {
    expect(await poll(null, pending, overdue, { unread })).toEqual({ result: again, made });
  });

  it.each([
    ['busy', ['read']],
    ['late', ['read', 'slow']],
  ] as const)('is read again if it is stored and the thread is %s', async (unread, made) => {
    expect(await poll(null, pending, { ...overdue, ...kept }, { unread })).toEqual({ result: again, made });
  });

  it('fails the run if its object is still missing when the time budget is spent', async () => {
    const gone = { unread: 'gone' } as const;
    expect(await poll(null, pending, { ...idle, ...kept }, gone)).toEqual({ result: again, made: ['read'] });
    expect(await poll(null, pending, { ...overdue, ...kept }, gone)).toEqual({
      result: { kind: 'done' },
      made: ['read', 'internal_error'],
    });
  });

  it('decides its run without a call to the provider', async () => {
    const output = { mediaType: 'application/json', body: new Uint8Array() };
    expect(await read({ kind: 'succeeded', output })).toEqual(['read', 'taken']);
    expect(await read(pending)).toEqual(['read', 'saved']);
    const failure = { class: 'provider_unavailable', retry: 'new_submit' } as const;
    expect(await read({ kind: 'failed', failure })).toEqual(['read', 'provider_unavailable']);
  });
});

describe('a worker that dies during a poll', () => {
  const idle = { cancelDue: false, cancelRequested: false };
  const madeWith = async (crashes: number, mayHaveCrashed: boolean) =>
    (await poll(null, pending, { ...idle, crashes }, { mayHaveCrashed })).made;

  it('makes the row count further attempts until one returns', async () => {
    expect(await madeWith(0, false)).toEqual(['polled']);
    expect(await madeWith(0, true)).toEqual(['counted', 'polled', 'forgotten']);
    // The job was lost with the server, but the count is in the row.
    expect(await madeWith(3, false)).toEqual(['counted', 'polled', 'forgotten']);
  });

  it('ends the run based only on the count in the row', async () => {
    expect(await madeWith(8, true)).toEqual(['counted', 'polled', 'forgotten']);
    expect(await madeWith(9, false)).toEqual(['internal_error']);
  });
});
