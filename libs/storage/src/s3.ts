import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  type MultipartUpload,
  paginateListObjectsV2,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Readable } from 'node:stream';
import { signedSeconds } from './asset-url.js';
import { endedBy } from './ended-by.js';
import { checkKey, checkPrefix, keyPrefixes } from './keys.js';
import { MeasuredBody } from './measured-body.js';
import {
  type Asset,
  type AssetStore,
  type Body,
  type ListedAsset,
  type PutFacts,
  StorageError,
  type Stored,
} from './port.js';
import { upload, uploadMemoryBytes } from './s3-upload.js';

/** Deletes go one by one: not every S3-compatible service takes DeleteObjects from this SDK. */
const deletesAtOnce = 8;

interface S3StoreOptions {
  client: S3Client;
  /** Signs URLs for the address that callers use; may be `client`. */
  signer: S3Client;
  bucket: string;
  listPage: number;
}

/** Assets in a bucket of S3 or of a compatible service. */
export class S3Store implements AssetStore {
  readonly kind = 's3';
  readonly putMemoryBytes = uploadMemoryBytes;

  constructor(private readonly options: S3StoreOptions) {}

  async put(key: string, body: Body, facts: PutFacts): Promise<Stored> {
    checkKey(key);
    const measured = new MeasuredBody(body, facts);
    try {
      const { client, bucket } = this.options;
      const { mediaType, signal } = facts;
      await upload(client, { bucket, key, mediaType, chunks: measured.chunks(), signal });
      return measured.stored();
    } catch (error) {
      facts.signal.throwIfAborted();
      measured.throwIfFailed();
      throw s3Failure(error, key, facts.signal);
    }
  }

  async get(key: string, signal: AbortSignal): Promise<Asset> {
    checkKey(key);
    try {
      const reply = await this.options.client.send(new GetObjectCommand(this.at(key)), {
        abortSignal: signal,
      });
      return {
        mediaType: reply.ContentType ?? 'application/octet-stream',
        // A proxy in between may send the object in chunks, without its length.
        ...(reply.ContentLength !== undefined && { bytes: reply.ContentLength }),
        body: endedBy(signal, reply.Body as Readable),
      };
    } catch (error) {
      throw s3Failure(error, key, signal);
    }
  }

  async delete(keys: Iterable<string>, signal: AbortSignal): Promise<void> {
    const waiting = [...keys];
    for (const key of waiting) checkKey(key);
    const deleteInTurn = async () => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) await this.deleteOne(key, signal);
    };
    const turns = await Promise.allSettled(Array.from({ length: deletesAtOnce }, deleteInTurn));
    for (const turn of turns) if (turn.status === 'rejected') throw turn.reason;
  }

  list(prefix: string, signal: AbortSignal): AsyncIterable<ListedAsset> {
    checkPrefix(prefix);
    return this.pages(prefix, signal);
  }

  async openSigned(): Promise<never> {
    throw new StorageError('not_found', 'Signed URLs lead to S3, not to a gateway');
  }

  async sign(key: string, life: { expiresInSeconds: number; nowMs: number }): Promise<string> {
    checkKey(key);
    try {
      return await getSignedUrl(this.options.signer, new GetObjectCommand(this.at(key)), {
        expiresIn: signedSeconds(life.expiresInSeconds),
        signingDate: new Date(life.nowMs),
      });
    } catch (error) {
      if (error instanceof RangeError) throw error;
      throw s3Failure(error, key, new AbortController().signal);
    }
  }

  async abortStale(startedBeforeMs: number, signal: AbortSignal): Promise<number> {
    let aborted = 0;
    for await (const { Key, UploadId, Initiated } of this.openUploads(signal)) {
      if (!Key || !UploadId || !Initiated || Initiated.getTime() >= startedBeforeMs) continue;
      await this.abortOne(Key, UploadId, signal);
      aborted += 1;
    }
    return aborted;
  }

  async healthy(signal: AbortSignal): Promise<boolean> {
    try {
      await this.options.client.send(new HeadBucketCommand({ Bucket: this.options.bucket }), {
        abortSignal: signal,
      });
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    this.options.client.destroy();
    this.options.signer.destroy();
  }

  private at(key: string) {
    return { Bucket: this.options.bucket, Key: key };
  }

  private async *pages(prefix: string, signal: AbortSignal): AsyncGenerator<ListedAsset> {
    const { client, bucket, listPage } = this.options;
    const pages = paginateListObjectsV2(
      { client, pageSize: listPage },
      { Bucket: bucket, Prefix: prefix },
      { abortSignal: signal },
    );
    try {
      for await (const page of pages) {
        for (const { Key: key = '', Size: bytes = 0, LastModified: at } of page.Contents ?? []) {
          yield { key, bytes, storedAtMs: at?.getTime() ?? 0 };
        }
      }
    } catch (error) {
      throw s3Failure(error, `the keys below "${prefix}"`, signal);
    }
  }

  private async deleteOne(key: string, signal: AbortSignal): Promise<void> {
    try {
      await this.options.client.send(new DeleteObjectCommand(this.at(key)), { abortSignal: signal });
    } catch (error) {
      if (!isMissing(error)) throw s3Failure(error, key, signal);
    }
  }

  /** Ours alone: others may use the bucket too. */
  private async *openUploads(signal: AbortSignal): AsyncGenerator<MultipartUpload> {
    for (const prefix of keyPrefixes) {
      let page: ListMultipartUploadsCommandOutput | undefined;
      do {
        page = await this.uploadsAfter(page, prefix, signal);
        yield* page.Uploads ?? [];
      } while (page.IsTruncated);
    }
  }

  private async uploadsAfter(
    page: ListMultipartUploadsCommandOutput | undefined,
    prefix: string,
    signal: AbortSignal,
  ) {
    const { client, bucket, listPage } = this.options;
    const query = new ListMultipartUploadsCommand({
      Bucket: bucket,
      Prefix: prefix,
      MaxUploads: listPage,
      KeyMarker: page?.NextKeyMarker,
      UploadIdMarker: page?.NextUploadIdMarker,
    });
    try {
      return await client.send(query, { abortSignal: signal });
    } catch (error) {
      throw s3Failure(error, 'the open uploads', signal);
    }
  }

  private async abortOne(key: string, uploadId: string, signal: AbortSignal): Promise<void> {
    try {
      const command = new AbortMultipartUploadCommand({ ...this.at(key), UploadId: uploadId });
      await this.options.client.send(command, { abortSignal: signal });
    } catch (error) {
      // Gone is as good, and what a second attempt finds when the answer to the first one was lost.
      if (!isMissing(error)) throw s3Failure(error, key, signal);
    }
  }
}

/** What S3 or the way to it said, in the words of the port. An ended signal is not S3's failure. */
function s3Failure(error: unknown, what: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof StorageError) return error;
  if (isMissing(error)) return new StorageError('not_found', `No asset ${what}`, { cause: error });
  const said = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error';
  return new StorageError('unavailable', `S3 failed at ${what}: ${said}`, { cause: error });
}

/** True for a missing key or upload, false for a missing bucket, which is a fault of ours. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof S3ServiceException) || error.name === 'NoSuchBucket') return false;
  return error.$metadata.httpStatusCode === 404;
}
