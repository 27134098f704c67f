import type { Readable } from 'node:stream';
import type { AssetUrlClaim } from './asset-url.js';

/** Complete bytes, or bytes as they arrive. A body is read once. */
export type Body = AsyncIterable<Uint8Array> | Uint8Array;

export interface PutFacts {
  mediaType: string;
  /** Aborts the put. It rejects with the signal's reason within seconds and leaves nothing behind. */
  signal: AbortSignal;
  /** A longer body is rejected with `too_large` and leaves nothing behind. No limit if absent. */
  maxBytes?: number;
}

export interface Asset {
  mediaType: string;
  /** Absent if the store does not report a length. */
  bytes?: number;
  /** Holds a connection or a file: read it to its end or destroy it. */
  body: Readable;
}

/** An asset that is open but has not been read yet. */
export interface OpenAsset {
  mediaType: string;
  bytes: number;
  /** Changes when other bytes are stored under the key. */
  version: string;
  /** The bytes from `start` to `end` inclusive, or all bytes. Call either this, once, or `close`. */
  read(range?: { start: number; end: number }): Readable;
  close(): Promise<void>;
}

export interface ListedAsset {
  key: string;
  bytes: number;
  storedAtMs: number;
}

/**
 * Stores copied assets and large payloads. A key has 1 to 512 characters: segments of letters, digits, `.`,
 * `_` and `-`, joined by `/`. No key may be the folder of another key.
 *
 * Failures are `StorageError`s. An aborted call rejects with the signal's reason, and a put whose body fails
 * rejects with the body's own error, so that a provider's failure is never mistaken for the store's.
 */
export abstract class AssetStore {
  /** Maximum number of bytes that a put of a body in chunks holds in memory. */
  abstract readonly putMemoryBytes: number;

  /**
   * Stores the body under the key, replacing any previous asset, and returns its length in bytes. Readers see
   * either the old asset or the new one, never a part. After `unavailable` the new asset may or may not be
   * stored.
   */
  abstract put(key: string, body: Body, facts: PutFacts): Promise<number>;

  /** Rejects with `not_found` if nothing is stored under the key. The signal also aborts the body. */
  abstract get(key: string, signal: AbortSignal): Promise<Asset>;

  /** Deletes the assets. Keys under which nothing is stored are ignored. */
  abstract delete(keys: readonly string[], signal: AbortSignal): Promise<void>;

  /** Lists all assets below a folder such as `runs/`, in no particular order, one page at a time. */
  abstract list(folder: string, signal: AbortSignal): AsyncIterable<ListedAsset>;

  /**
   * Opens an asset for a URL from `sign` that points to a gateway. Rejects with `not_found` for a forged,
   * expired or malformed claim, and always if signed URLs point to the store itself.
   */
  abstract openSigned(claim: AssetUrlClaim, when: { nowMs: number; signal: AbortSignal }): Promise<OpenAsset>;

  /** Returns an absolute URL that anyone can open until it expires, at most seven days from `nowMs`. */
  abstract sign(key: string, life: { expiresInSeconds: number; nowMs: number }): Promise<string>;

  /**
   * Removes unfinished puts that began before `startedBeforeMs`, which killed processes left behind, and
   * returns their number. Choose a time before which no put in progress can have begun, because such a put
   * may fail.
   */
  abstract abortStale(startedBeforeMs: number, signal: AbortSignal): Promise<number>;

  abstract close(): Promise<void>;
}

/**
 * `not_found`: nothing is stored under the key, or the signed URL is not valid. `too_large`: the body is
 * longer than allowed. `bad_key`: the key is malformed. `unavailable`: the store failed or did not answer.
 */
export type StorageFailure = 'not_found' | 'too_large' | 'bad_key' | 'unavailable';

export class StorageError extends Error {
  constructor(
    readonly failure: StorageFailure,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'StorageError';
  }
}
