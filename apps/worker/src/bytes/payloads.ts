import { SETTINGS } from '#infrastructure';
import { type Log, LOG, Shares, waitIn, type Waits, withTimeout } from '#observability';
import { type PayloadBody, StoredObjectRepository } from '#persistence';
import type { BodyPiece } from '#providers';
import { AssetStore, type Body, maxRowBytes, type PutFacts, StorageError } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { Readable } from 'node:stream';
import type { WorkerSettings } from '../settings.js';

/** Inputs and outputs of runs. Small ones are kept in the run's row, large ones in the store. */
@Injectable()
export class Payloads {
  private readonly budget: ByteBudget;

  constructor(
    private readonly store: AssetStore,
    private readonly objects: StoredObjectRepository,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    @Inject(LOG) private readonly log: Log,
  ) {
    this.budget = new ByteBudget(settings.WORKER_BODY_BUDGET);
  }

  /** Opens an empty share of the workspace’s part of the byte budget. Disposing of it releases its bytes. */
  openShare(workspaceId: string): Share & Disposable {
    return this.budget.open(workspaceId);
  }

  /** Reads a body into memory; its bytes count against `share`. Rejects with `StorageError`. */
  async readBody(body: PayloadBody, share: Share, signal: AbortSignal): Promise<Uint8Array> {
    if (!('storedAs' in body)) return body;
    const { storedAs } = body;
    try {
      return await withTimeout(this.settings.STORE_PAYLOAD_MS, signal, (bounded) =>
        this.readStored(storedAs, share, bounded),
      );
    } catch (error) {
      if (error instanceof StorageError || signal.aborted) throw error;
      throw new StorageError('unavailable', `The store did not return ${storedAs}`, { cause: error });
    }
  }

  /**
   * Returns the body as its row will hold it. A result has been paid for, so if the store fails, the bytes go
   * into the row, however large they are.
   */
  async keepBody(key: string, runId: string, mediaType: string, bytes: Uint8Array): Promise<PayloadBody> {
    if (bytes.byteLength <= maxRowBytes) return bytes;
    try {
      await this.putBody(key, runId, bytes, {
        mediaType,
        maxBytes: bytes.byteLength,
        signal: AbortSignal.timeout(this.settings.STORE_PAYLOAD_MS),
      });
      return { storedAs: key };
    } catch (error) {
      this.log.warn(
        { error, run_id: runId, bytes: bytes.byteLength },
        'could not store a large output, keeping it in its row',
      );
      return bytes;
    }
  }

  /** Stores a body as it arrives and returns its length. Rejects with `StorageError` or the body's error. */
  async putBody(key: string, runId: string, body: Body, facts: PutFacts): Promise<number> {
    const { STORE_DOUBT_SECONDS, STORE_PAYLOAD_MS } = this.settings;
    // Storing under a key that is being deleted could lose the bytes, which are paid for and cannot be
    // fetched again.
    if (!(await this.objects.note(key, runId, STORE_DOUBT_SECONDS, STORE_PAYLOAD_MS))) {
      throw new StorageError('unavailable', `${key} is being deleted`);
    }
    return this.store.put(key, body, facts);
  }

  /** Joins pieces into one stream. Stored pieces are read from the store while the stream is sent. */
  stream(pieces: readonly BodyPiece[], signal: AbortSignal): { bytes: number; body: Readable } {
    return {
      bytes: pieces.reduce((sum, piece) => sum + lengthOf(piece), 0),
      body: Readable.from(this.piecewise(pieces, signal), { objectMode: false }),
    };
  }

  private async *piecewise(pieces: readonly BodyPiece[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      if (piece instanceof Uint8Array) {
        yield piece;
        continue;
      }
      const { body } = await this.store.get(piece.storedAs, signal);
      yield* piece.base64 ? inBase64(body) : (body as AsyncIterable<Buffer>);
    }
  }

  private async readStored(key: string, share: Share, signal: AbortSignal): Promise<Buffer> {
    const { bytes, body } = await this.store.get(key, signal);
    const chunks: Buffer[] = [];
    try {
      if (bytes !== undefined) await share.grow(bytes, signal);
      for await (const chunk of body as AsyncIterable<Buffer>) {
        if (bytes === undefined) await share.grow(chunk.length, signal);
        chunks.push(chunk);
      }
    } finally {
      body.destroy();
    }
    return Buffer.concat(chunks);
  }
}

function lengthOf(piece: BodyPiece): number {
  if (piece instanceof Uint8Array) return piece.byteLength;
  return piece.base64 ? 4 * Math.ceil(piece.bytes / 3) : piece.bytes;
}

/** Base64 turns three bytes into four characters, so a chunk's remainder is encoded with the next one. */
async function* inBase64(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of body) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.length - (bytes.length % 3);
    yield Buffer.from(bytes.toString('base64', 0, end), 'latin1');
    rest = bytes.subarray(end);
  }
  yield Buffer.from(rest.toString('base64'), 'latin1');
}

/** A share of a byte budget. It grows while bytes arrive. */
export interface Share {
  /** Waits while the budget is exhausted. Rejects with the signal's reason if the signal aborts first. */
  grow(bytes: number, signal: AbortSignal): Promise<void>;
  /** Releases bytes that are no longer held. */
  shrink(bytes: number): void;
}

/** Bodies up to this size never wait. There are few at a time, because each belongs to a concurrency slot. */
const smallBytes = 64 * 1024;

/**
 * Bounds the bytes of all bodies that a process holds, and shares them among workspaces, so that there is always room
 * for another one. A body that needs more than its workspace may have waits until others are released. The oldest body
 * of a workspace may take all that is left, and the oldest of all never waits, so that one always makes progress. A
 * process therefore holds at most the budget, one body, and small ones.
 */
export class ByteBudget {
  private readonly budget: Shares;
  /** Shares of large bodies and their workspaces, oldest first. */
  private readonly large = new Map<Share, string>();
  private readonly waiting: Waits<void> = new Set();

  constructor(limit: number) {
    this.budget = new Shares(limit);
  }

  /** Opens an empty share. Disposing of it releases its bytes. */
  open(workspaceId: string): Share & Disposable {
    let mine = 0;
    const release = (bytes: number) => {
      mine -= bytes;
      this.budget.giveBack(workspaceId, bytes);
      for (const wake of this.waiting) wake();
    };
    const share: Share & Disposable = {
      grow: async (bytes, signal) => {
        if (mine + bytes > smallBytes) {
          this.large.set(share, workspaceId);
          while (!this.mayTake(share, workspaceId, bytes)) await waitIn(this.waiting, { signal });
        }
        this.budget.exceed(workspaceId, bytes);
        mine += bytes;
      },
      shrink: (bytes) => {
        release(Math.min(bytes, mine));
        if (mine <= smallBytes) this.large.delete(share);
      },
      [Symbol.dispose]: () => {
        this.large.delete(share);
        release(mine);
      },
    };
    return share;
  }

  private mayTake(share: Share, workspaceId: string, bytes: number): boolean {
    if (this.budget.mayTake(workspaceId, bytes)) return true;
    const [oldest] = this.large.keys();
    const [own] = [...this.large].find(([, of]) => of === workspaceId) ?? [];
    return share === oldest || (share === own && bytes <= this.budget.free);
  }
}
