import type { IncomingMessage } from 'node:http';
import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { failpoint, type Log, LOG } from '#observability';
import { FileRepository, type FileRefusal, type StoredFile, StoredObjectRepository } from '#persistence';
import { essenceOf } from '#schemas';
import { AssetStore, fileKey, StorageError, type StorageSettings } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { unlessDeleted } from '../auth/caller.guard.js';
import { BodyBudget } from '../bodies/body-reader.js';
import { bodyStream, tooLarge } from '../bodies/body-stream.js';
import type { BodySettings } from '../bodies/settings.js';
import { sendContinue } from '../http/expectations.js';
import { newId } from '../http/new-id.js';
import { contentTypeOf, headBytes } from './content-type.js';

export const fileSeconds = 24 * 60 * 60;
/** Time limit for one upload, including the store's confirmation. */
const uploadMs = 600_000;

/** The id and key of a file whose URL was given out in advance. */
interface Place {
  id: string;
  key: string;
}

interface Upload {
  workspaceId: string;
  maxBytes: number;
  type: string | undefined;
  fileName?: string | undefined;
  place?: Place | undefined;
}

/** Streams files from callers into the store; a file is never held in memory. */
@Injectable()
export class FileUploads {
  constructor(
    private readonly store: AssetStore,
    private readonly files: FileRepository,
    private readonly objects: StoredObjectRepository,
    private readonly budget: BodyBudget,
    @Inject(SETTINGS)
    private readonly settings: Pick<BodySettings, 'FILE_LIMIT'> &
      Pick<StorageSettings, 'STORE_DOUBT_SECONDS'>,
    @Inject(LOG) private readonly log: Log,
  ) {}

  async take(request: IncomingMessage, workspaceId: string, place?: Place): Promise<StoredFile> {
    const { FILE_LIMIT: limit } = this.settings;
    const { 'content-length': length, 'content-type': type, 'content-encoding': encoding } = request.headers;
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      throw notAsItIs('without a Content-Encoding');
    if (essenceOf(type).startsWith('multipart/')) throw notAsItIs('not as a form');
    // Without a Content-Length the file may be as large as the limit.
    const maxBytes = length === undefined ? limit : Number(length);
    if (maxBytes > limit) throw tooLarge(limit);
    return this.takeBytes(
      () => {
        sendContinue(request);
        return bodyStream(request, limit);
      },
      { workspaceId, maxBytes, type, place },
    );
  }

  /** Stores the bytes of one file, which are requested once there is memory for them. */
  async takeBytes(bytes: () => AsyncGenerator<Buffer>, upload: Upload): Promise<StoredFile> {
    const { workspaceId, maxBytes } = upload;
    const held = Math.min(maxBytes, this.store.putMemoryBytes);
    this.budget.take(workspaceId, held);
    try {
      return await this.receive(bytes(), upload);
    } finally {
      this.budget.giveBack(workspaceId, held);
    }
  }

  /** A URL that opens the file until it expires. */
  async urlOf({ key, expiresAt }: StoredFile): Promise<string> {
    const nowMs = Date.now();
    const expiresInSeconds = Math.max(1, Math.floor((expiresAt.getTime() - nowMs) / 1000));
    return this.store.sign(key, { expiresInSeconds, nowMs });
  }

  /** If this fails, a sweep deletes the object later. */
  async discard(key: string): Promise<void> {
    await this.objects.discard(key).catch((error: unknown) => {
      this.log.warn({ error, key }, 'could not discard a file; it will be deleted later');
    });
  }

  private async receive(
    body: AsyncGenerator<Buffer>,
    { workspaceId, maxBytes, type, fileName, place }: Upload,
  ): Promise<StoredFile> {
    try {
      const head = await headOf(body);
      const { mediaType, extension } = await contentTypeOf(head, type, fileName);
      const { id, key } = place ?? newPlace(extension);
      const doubtSeconds = this.settings.STORE_DOUBT_SECONDS;
      const refusal = await unlessDeleted(
        this.files.reserve({ id, key, workspaceId, maxBytes, doubtSeconds }),
      );
      if (refusal) throw refusal.limit === 'place' ? placeTaken() : fileLimitReached(refusal);
      try {
        await failpoint('file.reserved');
        const signal = AbortSignal.timeout(uploadMs);
        const bytes = await this.store.put(key, startingWith(head, body), { mediaType, signal });
        await failpoint('file.stored');
        const file = await this.files.complete(key, { contentType: mediaType, bytes, seconds: fileSeconds });
        if (file) return file;
        throw new StorageError('unavailable', `${key} is being deleted`);
      } catch (error) {
        await this.discard(key);
        throw error instanceof StorageError || isTimeout(error) ? unavailable(error) : error;
      }
    } finally {
      await body.return(undefined);
    }
  }
}

function newPlace(extension: string): Place {
  const id = newId();
  return { id, key: fileKey(id, extension) };
}

async function headOf(body: AsyncGenerator<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  while (size < headBytes) {
    const next = await body.next();
    if (next.done === true) break;
    chunks.push(next.value);
    size += next.value.length;
  }
  if (size === 0) throw new RouterError('invalid_input', 'The body is empty; send the bytes of the file.');
  return Buffer.concat(chunks, size);
}

async function* startingWith(head: Buffer, body: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* body;
}

const notAsItIs = (how: string) =>
  new RouterError('invalid_input', `The body must be the bytes of the file, ${how}.`, { status: 415 });

/** Thrown for a second upload to the same URL. */
export const placeTaken = () =>
  new RouterError('invalid_input', 'The file exists or is being uploaded; start another upload.', {
    status: 409,
  });

/** The workspace has no room for another file. */
export const fileLimitReached = (
  { limit, maxAllowed }: Pick<FileRefusal, 'limit'> & { maxAllowed: number | null },
  options: ConstructorParameters<typeof RouterError>[2] = {},
) =>
  new RouterError(
    'concurrency_limit_exceeded',
    limit === 'files'
      ? `The workspace has reached its limit of ${maxAllowed} files; delete one, or retry when one has expired.`
      : `The files of the workspace would exceed its limit of ${maxAllowed} bytes; delete some, or retry when some have expired.`,
    options,
  );

const isTimeout = (error: unknown) => error instanceof DOMException && error.name === 'TimeoutError';

const unavailable = (error: unknown) =>
  new RouterError('service_unavailable', 'The service cannot reach its store for files; retry later.', {
    internal: error instanceof StorageError ? `store: ${error.failure}` : String(error),
    cause: error,
  });
