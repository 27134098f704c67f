import { expect, it } from '@jest/globals';
import type { BoundProvider, Handle, Signal } from '#providers';
import type { Payloads } from '../bytes/payloads.js';
import type { InputFiles } from './input-files.js';
import type { ProviderClient } from './provider-client.js';
import { ProviderCall } from './provider-call.js';
import type { ReplyReader } from './reply-reader.js';

const handle: Handle = { v: 1, step: 'poll' };
const accepted: Signal = { status: 202, headers: {}, body: new Uint8Array() };

const cancel = (reply: Signal, { aborted = false, onCancel = () => 'requested' as const } = {}) =>
  new ProviderCall(
    { call: async () => reply } as unknown as ProviderClient,
    {} as ReplyReader,
    { withShare: (work: (share: object) => unknown) => work({}) } as unknown as Payloads,
    {} as InputFiles,
    { on: false, start: () => ({}) as never, close: async () => {} },
  ).cancel({ adapter: { onCancel } } as unknown as BoundProvider, 'run', handle, {
    workspaceId: 'workspace',
    call: { method: 'PUT', url: 'https://provider.example/cancel' },
    timeoutMs: 1000,
    signal: aborted ? AbortSignal.abort() : new AbortController().signal,
  });

it('reads what the provider says to a cancellation, also when its answer is lost', async () => {
  expect(await cancel(accepted)).toBe('requested');
  expect(await cancel({ fault: 'ambiguous', cause: 'timeout' })).toBe('requested');
});

it.each(['no_key', 'dns', 'connect'] as const)('knows that none has left: %s', async (cause) => {
  expect(await cancel({ fault: 'not_sent', cause })).toBeNull();
});

it('believes no answer that came after the job was taken away', async () => {
  expect(await cancel({ fault: 'ambiguous', cause: 'reset' }, { aborted: true })).toBeNull();
  expect(await cancel(accepted, { aborted: true })).toBeNull();
});
