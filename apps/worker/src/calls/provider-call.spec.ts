import { expect, it } from '@jest/globals';
import { createLog } from '#observability';
import type { RunRepository } from '#persistence';
import type { BoundProvider, Handle, Signal } from '#providers';
import { StorageError } from '#storage';
import type { Payloads } from '../bytes/payloads.js';
import type { ProviderClient } from './provider-client.js';
import { keptReply, ProviderCall } from './provider-call.js';
import type { ProviderResults } from './provider-results.js';
import type { ReplyReader } from './reply-reader.js';

const handle: Handle = { v: 1, step: 'poll' };
const accepted: Signal = { status: 202, headers: {}, body: new Uint8Array() };

const share = { grow: async () => {}, [Symbol.dispose]: () => {} };

const calls = (reply: Signal, readBody: Payloads['readBody']) =>
  new ProviderCall(
    { callProvider: async () => reply } as unknown as ProviderClient,
    {} as ReplyReader,
    {} as ProviderResults,
    { openShare: () => share, readBody } as unknown as Payloads,
    {} as RunRepository,
    { STORE_PAYLOAD_MS: 1000 },
    createLog('worker', 'silent'),
    { on: false, start: () => ({}) as never, close: async () => {} },
  );

const unused = async () => new Uint8Array();
const cancel = (reply: Signal, { aborted = false, onCancel = () => 'requested' as const } = {}) =>
  calls(reply, unused).cancel({ adapter: { onCancel } } as unknown as BoundProvider, 'run', handle, {
    workspaceId: 'workspace',
    call: { method: 'PUT', url: 'https://provider.example/cancel' },
    timeoutMs: 1000,
    signal: aborted ? AbortSignal.abort() : new AbortController().signal,
  });

it('lets the adapter read the reply to a cancellation, even a lost one', async () => {
  expect(await cancel(accepted)).toBe('requested');
  expect(await cancel({ fault: 'ambiguous', cause: 'timeout' })).toBe('requested');
});

it.each(['no_key', 'dns', 'connect'] as const)(
  'returns null if the cancellation was not sent: %s',
  async (cause) => {
    expect(await cancel({ fault: 'not_sent', cause })).toBeNull();
  },
);

it('ignores a reply that arrives after the job was aborted', async () => {
  expect(await cancel({ fault: 'ambiguous', cause: 'reset' }, { aborted: true })).toBeNull();
  expect(await cancel(accepted, { aborted: true })).toBeNull();
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
