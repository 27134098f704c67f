import { beforeEach, expect, it } from '@jest/globals';
import { createLog } from '#observability';
import type { Attempt, RunRepository } from '#persistence';
import type { BoundProvider, Handle, Signal } from '#providers';
import { StorageError } from '#storage';
import type { AttemptRecorder } from '../attempts/attempt-recorder.js';
import type { Payloads } from '../bytes/payloads.js';
import type { ProviderClient } from './provider-client.js';
import { keptReply, ProviderCall } from './provider-call.js';
import type { ReplyReader } from './reply-reader.js';

const handle: Handle = { v: 1, step: 'poll' };
const accepted: Signal = { status: 202, headers: {}, body: new Uint8Array() };

const share = { grow: async () => {}, [Symbol.dispose]: () => {} };

/** What the calls noted. */
const noted: Pick<Attempt, 'phase' | 'class' | 'retry'>[] = [];
const note: AttemptRecorder['note'] = (_provider, _runId, { phase, class: kind, retry }) =>
  void noted.push({ phase, class: kind, retry });
beforeEach(() => {
  noted.length = 0;
});

const calls = (reply: Signal, readBody: Payloads['readBody']) =>
  new ProviderCall(
    { callProvider: async () => reply } as unknown as ProviderClient,
    {} as ReplyReader,
    { openShare: () => share, readBody } as unknown as Payloads,
    {} as RunRepository,
    { note } as AttemptRecorder,
    { STORE_PAYLOAD_MS: 1000 },
    createLog('worker', 'silent'),
    { on: false, start: () => ({}) as never, close: async () => {} },
  );

const unused = async () => new Uint8Array();
const cancel = (
  reply: Signal,
  { aborted = false, onCancel = (): 'requested' | 'too_late' | 'unknown' => 'requested' } = {},
) =>
  calls(reply, unused).cancel({ adapter: { onCancel } } as unknown as BoundProvider, 'run', handle, {
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
  expect(await calls(accepted, away).readKept({} as BoundProvider, run, stored, terms)).toBe(unread);
});
