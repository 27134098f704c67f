import type { Readable } from 'node:stream';
import type { AssetUrlClaim } from './asset-url.js';

/** Whole bytes, or bytes as they arrive; a body is read once. */
export type Body = AsyncIterable<Uint8Array> | Uint8Array;

export interface PutFacts {
  mediaType: string;
  /** Cuts the put short: it rejects with the signal's reason, within seconds, and leaves nothing. */
  signal: AbortSignal;
  /** A longer body is cut, leaves nothing and rejects with `too_large`. Absent: no limit. */
  maxBytes?: number;
}

export interface Asset {
  mediaType: string;
  /** Absent when the store does not say. */
  bytes?: number;
  /** Read it to its end or destroy it: it holds a connection or a file. */
  body: Readable;
}

/** An asset that is open and has not been read yet. */
export interface OpenAsset {
  mediaType: string;
  bytes: number;
  /** Differs when other bytes are stored under the key. */
  version: string;
  /** The bytes from `start` to `end`, both included; without them all. To be called once, or `close`. */
  read(range?: { start: number; end: number }): Readable;
  close(): Promise<void>;
}

export interface ListedAsset {
  key: string;
  bytes: number;
  storedAtMs: number;
}

/**
 * Keeps copied assets and large payloads. A key is one to 512 characters: segments of letters, digits,
 * `.`, `_` and `-`, joined by `/`; no key may be the folder of another one.
 *
 * Failures are `StorageError`s; an ended signal rejects with its reason, and a body that fails rejects
 * with the body's own error, so that a provider's fault is never taken for ours.
 */
export abstract class AssetStore {
  /** The most bytes that a put holds in memory of a body that arrives in chunks. */
  abstract readonly putMemoryBytes: number;

  /**
   * Stores the body under the key, in place of what was there, and returns its length in bytes. Others see the old
   * asset or the new one, never a part. Only after `unavailable` is it open whether the new one is there.
   */
  abstract put(key: string, body: Body, facts: PutFacts): Promise<number>;

  /** Rejects with `not_found` when nothing is stored there. The signal also ends the body. */
  abstract get(key: string, signal: AbortSignal): Promise<Asset>;

  /** Whether there was something to delete makes no difference. */
  abstract delete(keys: readonly string[], signal: AbortSignal): Promise<void>;

  /** All assets below the folder, such as `runs/`, in no particular order, and never more than a page of them in memory. */
  abstract list(folder: string, signal: AbortSignal): AsyncIterable<ListedAsset>;

  /**
   * Opens an asset for the holder of a URL that `sign` made and that leads to a gateway. Rejects with `not_found` for a
   * claim that is forged, expired or malformed, and always where signed URLs lead to the store itself.
   */
  abstract openSigned(claim: AssetUrlClaim, when: { nowMs: number; signal: AbortSignal }): Promise<OpenAsset>;

  /** An absolute URL that opens the asset for everyone until it expires, at most seven days from `nowMs`. */
  abstract sign(key: string, life: { expiresInSeconds: number; nowMs: number }): Promise<string>;

  /**
   * Removes what killed processes left of their puts: those begun before `startedBeforeMs`. Returns how
   * many. A put that still runs and began earlier may fail: choose a time before which no put can still be running.
   */
  abstract abortStale(startedBeforeMs: number, signal: AbortSignal): Promise<number>;

  abstract close(): Promise<void>;
}

/**
 * `not_found`: nothing is stored there, or the signed URL does not open it. `too_large`: the body is longer
 * than allowed. `bad_key`: no store takes such a key. `unavailable`: the store failed or gave no answer.
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
