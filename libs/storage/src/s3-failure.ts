import { S3ServiceException } from '@aws-sdk/client-s3';
import { StorageError } from './storage-error.js';

/** What S3 or the way to it said, in the words of the port. An ended signal is not S3's failure. */
export function s3Failure(error: unknown, what: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof StorageError) return error;
  if (isMissing(error)) return new StorageError('not_found', `No asset ${what}`, { cause: error });
  const said = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error';
  return new StorageError('unavailable', `S3 failed at ${what}: ${said}`, { cause: error });
}

/** True for a missing key or upload, false for a missing bucket, which is a fault of ours. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof S3ServiceException) || error.name === 'NoSuchBucket') return false;
  return error.$metadata.httpStatusCode === 404;
}
