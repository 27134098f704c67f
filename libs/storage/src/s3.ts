import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  type MultipartUpload,
  paginateListObjectsV2,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { Readable } from 'node:stream';
import { signedSeconds } from './asset-url.js';
import { endedBy, MeasuredBody } from './bodies.js';
import { dispositionOf } from './disposition.js';
import { checkKey, keyFolders } from './keys.js';
import {
  type Asset,
  type AssetStore,
  type Body,
  type ListedAsset,
  type PutFacts,
  StorageError,
} from './port.js';

/** Longer bodies are uploaded in parts of this size, the minimum that S3 accepts. */
const partBytes = 5 * 1024 * 1024;
const partsInFlight = 2;

/** After the signal aborts, how long to wait for calls that must not be interrupted. */
const graceMs = 5_000;

/** Objects are deleted one by one: some S3-compatible services reject DeleteObjects from this SDK. */
const deletesAtOnce = 8;

interface S3StoreOptions {
  client: S3Client;
  /** Signs URLs for the address that callers use. May be the same as `client`. */
  signer: S3Client;
  bucket: string;
}

/** Stores assets in a bucket of S3 or of a compatible service. */
export class S3Store implements AssetStore {
  /** The parts in flight, plus the next part and the chunks that it is assembled from. */
  readonly putMemoryBytes = (partsInFlight + 2) * partBytes;

  constructor(private readonly options: S3StoreOptions) {}

  async put(key: string, body: Body, facts: PutFacts): Promise<number> {
    checkKey(key);
    const measured = new MeasuredBody(body, facts);
    try {
      await upload(this.options.client, this.at(key), measured.chunks(), facts);
      return measured.bytes;
    } catch (error) {
      measured.throwIfFailed();
      throw s3Failure(error, key);
    }
  }

  async get(key: string, signal: AbortSignal): Promise<Asset> {
    checkKey(key);
    const call = this.options.client.send(new GetObjectCommand(this.at(key)), { abortSignal: signal });
    const reply = await answered(call, key, signal);
    return {
      mediaType: reply.ContentType ?? 'application/octet-stream',
      // A proxy may send the object in chunks, without its length.
      ...(reply.ContentLength !== undefined && { bytes: reply.ContentLength }),
      body: endedBy(signal, reply.Body as Readable),
    };
  }

  async delete(keys: readonly string[], signal: AbortSignal): Promise<void> {
    for (const key of keys) checkKey(key);
    const waiting = keys.values();
    const deleteInTurn = async () => {
      for (const key of waiting) {
        const command = new DeleteObjectCommand(this.at(key));
        await unlessMissing(this.options.client.send(command, { abortSignal: signal }), key, signal);
      }
    };
    const turns = await Promise.allSettled(Array.from({ length: deletesAtOnce }, deleteInTurn));
    for (const turn of turns) if (turn.status === 'rejected') throw turn.reason;
  }

  async *list(folder: string, signal: AbortSignal): AsyncGenerator<ListedAsset> {
    const { client, bucket } = this.options;
    const pages = paginateListObjectsV2(
      { client },
      { Bucket: bucket, Prefix: folder },
      { abortSignal: signal },
    );
    try {
      for await (const page of pages) {
        for (const { Key: key = '', Size: bytes = 0, LastModified: at } of page.Contents ?? []) {
          yield { key, bytes, storedAtMs: at?.getTime() ?? 0 };
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      throw s3Failure(error, `the keys below ${folder}`);
    }
  }

  async openSigned(): Promise<never> {
    throw new StorageError('not_found', 'Signed URLs lead to S3, not to a gateway');
  }

  async sign(key: string, life: { expiresInSeconds: number; nowMs: number }): Promise<string> {
    checkKey(key);
    const times = { expiresIn: signedSeconds(life.expiresInSeconds), signingDate: new Date(life.nowMs) };
    return answered(getSignedUrl(this.options.signer, new GetObjectCommand(this.at(key)), times), key);
  }

  async abortStale(startedBeforeMs: number, signal: AbortSignal): Promise<number> {
    let aborted = 0;
    for await (const { Key, UploadId, Initiated } of this.openUploads(signal)) {
      if (!Key || !UploadId || !Initiated || Initiated.getTime() >= startedBeforeMs) continue;
      const command = new AbortMultipartUploadCommand({ ...this.at(Key), UploadId });
      await unlessMissing(this.options.client.send(command, { abortSignal: signal }), Key, signal);
      aborted += 1;
    }
    return aborted;
  }

  async close(): Promise<void> {
    this.options.client.destroy();
    this.options.signer.destroy();
  }

  private at(key: string) {
    return { Bucket: this.options.bucket, Key: key };
  }

  /** Lists only our own uploads, since the bucket may be shared. */
  private async *openUploads(signal: AbortSignal): AsyncGenerator<MultipartUpload> {
    const { client, bucket } = this.options;
    for (const folder of keyFolders) {
      let page: ListMultipartUploadsCommandOutput | undefined;
      do {
        const query = new ListMultipartUploadsCommand({
          Bucket: bucket,
          Prefix: folder,
          KeyMarker: page?.NextKeyMarker,
          UploadIdMarker: page?.NextUploadIdMarker,
        });
        page = await answered(client.send(query, { abortSignal: signal }), 'the open uploads', signal);
        yield* page.Uploads ?? [];
      } while (page.IsTruncated);
    }
  }
}

/**
 * Uploads a short body in one call and a long one as a multipart upload, whose parts are aborted if anything
 * fails. The signal aborts only transfers of parts at once. The calls that begin and complete an upload get a
 * grace period, because it would be unknown what an interrupted one left behind.
 */
async function upload(
  client: S3Client,
  at: { Bucket: string; Key: string },
  chunks: AsyncIterable<Uint8Array>,
  { mediaType, signal }: PutFacts,
): Promise<void> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => late.abort(signal.reason), graceMs);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const signalOf = (command: unknown) => {
    if (command instanceof UploadPartCommand) return signal;
    return command instanceof AbortMultipartUploadCommand ? AbortSignal.timeout(graceMs) : late.signal;
  };
  const send = (command: Parameters<S3Client['send']>[0]) =>
    client.send(command, { abortSignal: signalOf(command) });
  try {
    await new Upload({
      client: Object.create(client, { send: { value: send } }) as S3Client,
      params: {
        ...at,
        ContentType: mediaType,
        ContentDisposition: dispositionOf(mediaType),
        Body: Readable.from(chunks, { highWaterMark: 1 }),
      },
      partSize: partBytes,
      queueSize: partsInFlight,
    }).done();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Awaits one call. An aborted signal is not a failure of S3. */
async function answered<T>(call: Promise<T>, what: string, signal?: AbortSignal): Promise<T> {
  try {
    return await call;
  } catch (error) {
    signal?.throwIfAborted();
    throw s3Failure(error, what);
  }
}

/** Like `answered`, for an object that may be gone, for example after a lost reply to an earlier attempt. */
async function unlessMissing(call: Promise<unknown>, what: string, signal: AbortSignal): Promise<void> {
  try {
    await answered(call, what, signal);
  } catch (error) {
    if (!(error instanceof StorageError && error.failure === 'not_found')) throw error;
  }
}

/** Converts an error of S3 or of the connection to it to a `StorageError`. */
function s3Failure(error: unknown, what: string): StorageError {
  if (error instanceof StorageError) return error;
  if (isMissing(error)) return new StorageError('not_found', `No asset ${what}`, { cause: error });
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error';
  return new StorageError('unavailable', `S3 failed at ${what}: ${reason}`, { cause: error });
}

/** True for a missing key or upload, but not for a missing bucket, which is a configuration error. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof S3ServiceException) || error.name === 'NoSuchBucket') return false;
  return error.$metadata.httpStatusCode === 404;
}
