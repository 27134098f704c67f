import { RouterError } from '#errors';
import { hasTooManyPieces } from '../http/pieces.js';

/** A chunk of at least this size is kept as it is; smaller ones are copied into blocks. */
const largeBytes = 16 * 1024;
const minBlockBytes = 4 * 1024;
const maxBlockBytes = 64 * 1024;
const none = Buffer.alloc(0);

/**
 * Collects the chunks of a body. Small ones are copied into blocks, because a Buffer takes about 200 bytes even for a
 * chunk of one byte.
 */
export class BodyBlocks {
  /** Bytes of the whole body so far. */
  size = 0;
  /** Bytes not yet taken. */
  held = 0;
  private pieces = 0;
  private blocks: Buffer[] = [];
  private open = none;
  private filled = 0;

  /** Throws `invalid_input`, 400, when the body arrives in too many small chunks. */
  add(chunk: Buffer): void {
    this.size += chunk.length;
    this.pieces += 1;
    if (hasTooManyPieces(this.pieces, this.size))
      throw new RouterError('invalid_input', 'The body was sent in too many small chunks.', {
        headers: { Connection: 'close' },
      });
    if (chunk.length < largeBytes) this.copy(chunk);
    else {
      this.close();
      this.blocks.push(chunk);
    }
    this.held += chunk.length;
  }

  /** The bytes that were added since the last call. */
  take(): Buffer[] {
    this.close();
    this.held = 0;
    return this.blocks.splice(0);
  }

  private copy(chunk: Buffer): void {
    for (let from = 0; from < chunk.length;) {
      if (this.filled === this.open.length) {
        this.close();
        // Blocks grow with the bytes held, so that a small body uses little memory.
        this.open = Buffer.allocUnsafeSlow(Math.min(maxBlockBytes, Math.max(minBlockBytes, this.held)));
      }
      const copied = chunk.copy(this.open, this.filled, from);
      this.filled += copied;
      from += copied;
    }
  }

  /** Closes the open block and keeps only its filled part. */
  private close(): void {
    if (this.filled > 0) {
      const isFull = this.filled === this.open.length;
      this.blocks.push(isFull ? this.open : Buffer.from(this.open.subarray(0, this.filled)));
    }
    this.open = none;
    this.filled = 0;
  }
}
