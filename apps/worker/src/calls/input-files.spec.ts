import { expect, it } from '@jest/globals';
import type { StoredObjectRepository } from '#persistence';
import type { KeyedProvider, ProviderFailure, Signal } from '#providers';
import type { AssetStore } from '#storage';
import type { AttemptRecorder } from '../attempts/attempt-recorder.js';
import { InputFiles } from './input-files.js';
import type { ProviderClient } from './provider-client.js';
import type { ProviderResults } from './provider-results.js';

const reply: Signal = { status: 500, headers: {}, body: Buffer.from('{"error":"busy"}') };
const use = { url: 'data:text/plain;base64,eA==', path: ['file'], upload: true };
const run = { runId: 'run', model: 'model', upstream: {}, body: new Uint8Array() };
const share = { grow: async () => {}, shrink: () => {} };

/** Returns the notes of an upload whose reply the provider reads as given. */
async function noted(read: { id: string } | { failure: ProviderFailure }): Promise<unknown[]> {
  const all: unknown[] = [];
  const note: AttemptRecorder['note'] = (_provider, runId, trouble, signal) =>
    void all.push({ runId, ...trouble, signal });
  const files = new InputFiles(
    {} as AssetStore,
    {} as StoredObjectRepository,
    { callProvider: async () => reply } as unknown as ProviderClient,
    { note } as AttemptRecorder,
    { noteCall: () => {} } as unknown as ProviderResults,
  );
  const adapter = { files: () => [use], upload: () => ({ call: () => ({}), read: () => read }) };
  const provider = { name: 'heygen', adapter } as unknown as KeyedProvider;
  await files.prepareFiles(provider, run, { workspaceId: 'workspace', share });
  return all;
}

it('notes an upload that the provider rejects, and none that it takes', async () => {
  expect(await noted({ id: '"file-1"' })).toEqual([]);
  const failure = {
    class: 'provider_failed',
    retry: 'new_submit',
    note: 'upload answered HTTP 500',
  } as const;
  expect(await noted({ failure })).toEqual([
    {
      runId: 'run',
      phase: 'upload',
      class: 'provider_failed',
      retry: 'new_submit',
      reading: 'The provider failed (upload answered HTTP 500).',
      signal: reply,
    },
  ]);
});
