import { beforeEach, describe, expect, it } from '@jest/globals';
import { createLog, type Span } from '#observability';
import type { Attempt, RunRepository } from '#persistence';
import type { KeyedProvider, Handle, Outcome, Signal } from '#providers';
import type { ReportedTerm } from '#schemas';
import { StorageError } from '#storage';
import type { AttemptRecorder } from '../attempts/attempt-recorder.js';
import type { SurpriseRecorder } from '../attempts/surprise-recorder.js';
import type { Payloads } from '../bytes/payloads.js';
import type { ProviderClient } from './provider-client.js';
import { keptReply, ProviderCall } from './provider-call.js';
import type { ProviderResults } from './provider-results.js';
import type { ReplyReader } from './reply-reader.js';

const handle: Handle = { v: 1, step: 'poll' };
const accepted: Signal = { status: 202, headers: {}, body: new Uint8Array() };

const share = { grow: async () => {}, shrink: () => {}, [Symbol.dispose]: () => {} };

/** The notes of the calls. */
const noted: Pick<Attempt, 'phase' | 'class' | 'retry'>[] = [];
const note: AttemptRecorder['note'] = (_provider, _runId, { phase, class: kind, retry }) =>
  void noted.push({ phase, class: kind, retry });
/** The kinds of unexpected replies. */
const surprises: string[] = [];
const noteSurprise: SurpriseRecorder['note'] = (_provider, _runId, { kind }) => void surprises.push(kind);
beforeEach(() => {
  noted.length = 0;
  surprises.length = 0;
});

const calls = (reply: Signal, readBody: Payloads['readBody'], outcome?: Outcome, reportedMicros?: number) =>
  new ProviderCall(
    { callProvider: async () => reply } as unknown as ProviderClient,
    {
      readNow: async () => ({ outcome, reportedMicros }),
      read: async () => ({ outcome, reportedMicros }),
    } as unknown as ReplyReader,
    { noteCall: () => {} } as unknown as ProviderResults,
    { openShare: () => share, readBody } as unknown as Payloads,
    {} as RunRepository,
    { note } as AttemptRecorder,
    { note: noteSurprise } as SurpriseRecorder,
    { STORE_PAYLOAD_MS: 1000 },
    createLog('worker', 'silent'),
    { on: false, start: () => ({ end: () => {} }) as never, close: async () => {} },
  );

const unused = async () => new Uint8Array();
const cancel = (
  reply: Signal,
  { aborted = false, onCancel = (): 'requested' | 'too_late' | 'unknown' => 'requested' } = {},
) =>
  calls(reply, unused).cancel({ adapter: { onCancel } } as unknown as KeyedProvider, 'run', handle, {
    workspaceId: 'workspace',
    call: { method: 'PUT', url: 'https://provider.example/cancel' },
    timeoutMs: 1000,
    signal: aborted ? AbortSignal.abort() : new AbortController().signal,
  });

it('lets the adapter read the reply to a cancellation, even a lost one', async () => {
  expect(await cancel(accepted)).toBe('requested');
  expect(await cancel({ fault: 'ambiguous', cause: 'timeout' })).toBe('requested');
  expect(noted).toEqual([]);
});

it.each(['no_key', 'dns', 'connect'] as const)(
  'returns null if the cancellation was not sent: %s',
  async (cause) => {
    expect(await cancel({ fault: 'not_sent', cause })).toBeNull();
    expect(noted).toEqual([{ phase: 'cancel', class: 'not_sent', retry: 'same_call' }]);
  },
);

it.each(['too_late', 'unknown'] as const)(
  'notes a cancellation that the provider answers with %s',
  async (answer) => {
    expect(await cancel(accepted, { onCancel: () => answer })).toBe(answer);
    expect(noted).toEqual([{ phase: 'cancel', class: answer, retry: undefined }]);
  },
);

it('ignores a reply that arrives after the job was aborted', async () => {
  expect(await cancel({ fault: 'ambiguous', cause: 'reset' }, { aborted: true })).toBeNull();
  expect(await cancel(accepted, { aborted: true })).toBeNull();
  expect(noted).toEqual([]);
});

it.each([
  ['not_found', 'gone'],
  ['unavailable', 'busy'],
] as const)('a stored reply that the store reports as %s is %s', async (failure, unread) => {
  const away = async () => Promise.reject(new StorageError(failure, 'no bytes'));
  const run = { runId: 'run', model: 'model', upstream: {} };
  const stored = keptReply({ v: 2, step: 'read', status: 200, headers: {} });
  const terms = { readings: 0, reported: [], assets: [], share, signal: new AbortController().signal };
  if (!stored) throw new Error('not a stored reply');
  expect(await calls(accepted, away).readKept({} as KeyedProvider, run, stored, terms)).toBe(unread);
});

const failed = (retry: 'never' | 'new_submit' | 'same_call'): Outcome => ({
  kind: 'failed',
  failure: { class: 'provider_failed', retry },
});
const terms = { workspaceId: 'workspace', timeoutMs: 1000, share, reported: [], assets: [] };
const call = { method: 'POST', url: 'https://provider.example/runs' } as const;

const submit = async (outcome: Outcome, hasFallback = false) => {
  const run = { runId: 'run', epoch: 1, model: 'model', upstream: {} };
  const parent = { traceparent: undefined } as unknown as Span;
  await calls(accepted, unused, outcome).submit({ name: 'fal' } as KeyedProvider, run, {
    ...terms,
    call,
    parent,
    callId: undefined,
    hasFallback,
  });
  return noted;
};

const shown = (kind: string, retry: string) => [{ phase: 'submit', class: kind, retry }];

describe('notes a submission', () => {
  it('that failed, with what followed', async () => {
    expect(await submit(failed('new_submit'))).toEqual(shown('provider_failed', 'new_submit'));
  });
  it('after which the run moved to its next server', async () => {
    expect(await submit(failed('new_submit'), true)).toEqual(shown('provider_failed', 'next_server'));
  });
  it('that ended the run, although it has another server', async () => {
    expect(await submit(failed('never'), true)).toEqual(shown('provider_failed', 'never'));
  });
  it('that the provider cancelled', async () => {
    expect(await submit({ kind: 'canceled' })).toEqual(shown('cancelled', 'never'));
  });
  it('but not one that succeeded', async () => {
    expect(await submit({ kind: 'pending', handle, afterMs: 1 })).toEqual([]);
  });
});

const resume = async (outcome: Outcome, step: 'poll' | 'fetch', cancelRequested = false) => {
  const provider = { name: 'fal', adapter: { resume: () => call } } as unknown as KeyedProvider;
  const signal = new AbortController().signal;
  await calls(accepted, unused, outcome).resume(
    provider,
    'run',
    { v: 1, step },
    { ...terms, readings: 0, cancelRequested, hasCost: false, signal },
  );
  return noted;
};

describe('notes a poll or a fetch', () => {
  it('that failed', async () => {
    expect(await resume(failed('same_call'), 'fetch')).toEqual([
      { phase: 'fetch', class: 'provider_failed', retry: 'same_call' },
    ]);
  });
  it('that reports a cancellation, unless the caller requested it', async () => {
    expect(await resume({ kind: 'canceled' }, 'poll', true)).toEqual([]);
    expect(await resume({ kind: 'canceled' }, 'poll')).toEqual([
      { phase: 'poll', class: 'cancelled', retry: 'never' },
    ]);
  });
});

describe('counts an unexpected reply', () => {
  const output = { mediaType: 'application/json', body: new Uint8Array() };
  const succeeded: Outcome = { kind: 'succeeded', output };
  const reported = [{ at: '/cost', micros: 1 }];
  const provider = { name: 'fal', adapter: { resume: () => call } } as unknown as KeyedProvider;
  const polled = async (
    outcome: Outcome,
    {
      hasCost = false,
      cost,
      terms: given = reported,
    }: { hasCost?: boolean; cost?: number; terms?: ReportedTerm[] },
  ) => {
    const { signal } = new AbortController();
    await calls(accepted, unused, outcome, cost).resume(provider, 'run', handle, {
      ...terms,
      reported: given,
      readings: 0,
      cancelRequested: false,
      hasCost,
      signal,
    });
    return surprises.splice(0);
  };

  it('that its adapter found', async () => {
    const surprise = { kind: 'unknown_status', note: 'It says “Composing”.' } as const;
    expect(await polled({ kind: 'pending', handle, afterMs: 1, surprise }, {})).toEqual(['unknown_status']);
  });
  it('that ends a run whose cost no reply reported', async () => {
    expect(await polled(succeeded, {})).toEqual(['missing_cost']);
    expect(await polled(succeeded, { cost: 5 })).toEqual([]);
    expect(await polled(succeeded, { hasCost: true })).toEqual([]);
    expect(await polled(succeeded, { terms: [] })).toEqual([]);
    expect(await polled(succeeded, { terms: [{ at: '/cost', micros: 1, optional: true }] })).toEqual([]);
    expect(await polled({ kind: 'pending', handle, afterMs: 1 }, {})).toEqual([]);
  });
});
