import { failpoint } from '#observability';
import { StoredObjectRepository } from '#persistence';
import {
  type KeyedProvider,
  type FileUse,
  inlineFile,
  type InputFile,
  mayUseAnother,
  type ProviderFailure,
  type Run,
} from '#providers';
import { AssetStore, linkedKey, StorageError } from '#storage';
import { Injectable } from '@nestjs/common';
import { AttemptRecorder } from '../attempts/attempt-recorder.js';
import { failedCall } from '../attempts/reading.js';
import type { Share } from '../bytes/payloads.js';
import { discardBody, ProviderClient } from './provider-client.js';
import { ProviderResults } from './provider-results.js';

/** Time limit for finding one file in the store. */
const findMs = 10_000;
/** Time limit for one upload to a provider, reply included. */
const uploadMs = 120_000;

interface Terms {
  workspaceId: string;
  share: Share;
}

/** A caller's URL is never fetched, so it must name a file in our own store. */
const noSuchFile =
  'This model takes the file itself: base64, a data: URL, or the URL of a file that this workspace has uploaded here and that has not expired.';

/**
 * Prepares the files of an input for submission. If the provider takes bytes, the caller's files are looked
 * up in the store; if it takes ids, they are also uploaded to the provider. None of this starts or costs
 * anything, so a worker that takes over the run repeats it.
 */
@Injectable()
export class InputFiles {
  constructor(
    private readonly store: AssetStore,
    private readonly objects: StoredObjectRepository,
    private readonly client: ProviderClient,
    private readonly attempts: AttemptRecorder,
    private readonly results: ProviderResults,
  ) {}

  /** Returns the run with its files, or why it cannot be submitted. Rejects with `StorageError`. */
  async prepareFiles(provider: KeyedProvider, run: Run, terms: Terms): Promise<Run | ProviderFailure> {
    const uses = provider.adapter.files?.(run) ?? [];
    if (uses.length === 0) return run;
    const files = new Map<string, InputFile>();
    for (const { url, path } of uses) {
      const file = files.get(url) ?? (await this.findFile(url, terms.workspaceId));
      if (!file) return rejected(path, noSuchFile);
      files.set(url, file);
    }
    const uploads = new Map<string, string>();
    for (const use of uses) {
      const file = files.get(use.url);
      if (!use.upload || !file || uploads.has(use.url)) continue;
      const uploaded = await this.uploadFile(provider, run, file, terms);
      if (uploaded.failure) return at(use, uploaded.failure);
      uploads.set(use.url, uploaded.id);
    }
    if (uploads.size > 0) await failpoint('dispatch.afterUpload', run.runId);
    return { ...run, files, uploads };
  }

  private async findFile(url: string, workspaceId: string): Promise<InputFile | undefined> {
    const inline = inlineFile(url);
    if (inline) return inline;
    const key = await linkedKey(this.store, url);
    if (key === undefined || !(await this.objects.isOf(workspaceId, key))) return undefined;
    try {
      const {
        mediaType: type,
        bytes: reported,
        body,
      } = await this.store.get(key, AbortSignal.timeout(findMs));
      const bytes = reported ?? (await lengthOf(body));
      discardBody(body);
      return { mediaType: type, bytes, content: { storedAs: key } };
    } catch (error) {
      if (error instanceof StorageError && error.failure === 'not_found') return undefined;
      throw error;
    }
  }

  private async uploadFile(
    provider: KeyedProvider,
    run: Run,
    file: InputFile,
    terms: Terms,
  ): Promise<{ id: string; failure?: undefined } | { failure: ProviderFailure }> {
    const upload = provider.adapter.upload?.(run);
    if (!upload) throw new Error(`${provider.name} takes no uploads`);
    const reply = await this.client.callProvider(provider, {
      runId: run.runId,
      operation: 'upload',
      call: upload.call(file),
      timeoutMs: uploadMs,
      ...terms,
    });
    const read = upload.read(reply);
    if (read.failure) {
      const { failure } = read;
      this.attempts.note(
        provider,
        run.runId,
        failedCall('upload', failure, { hasOtherKey: mayUseAnother(provider, failure) }),
        reply,
      );
      this.results.noteCall(provider, run.runId, reply, { kind: 'failed', failure });
    }
    return read;
  }
}

async function lengthOf(body: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.length;
  return bytes;
}

const rejected = (path: FileUse['path'], msg: string): ProviderFailure => ({
  class: 'rejected_input',
  retry: 'never',
  fields: [{ loc: ['body', ...path], msg, type: 'value_error' }],
});

/** Reports a provider's complaint about a file at the input field that named the file. */
const at = ({ path }: FileUse, { fields, ...failure }: ProviderFailure): ProviderFailure => ({
  ...failure,
  ...(fields && { fields: fields.map((field) => ({ ...field, loc: ['body', ...path] })) }),
});
