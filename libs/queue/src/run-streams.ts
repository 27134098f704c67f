import type { RunSignals } from './run-signals.js';

/**
 * A piece of a run's event stream: its media type (`open`, the first piece), bytes as the provider sent them, or the
 * mark that the provider has ended it. `start` is the offset in the stream, in bytes.
 */
export interface StreamPiece {
  kind: 'open' | 'bytes' | 'end';
  start: number;
  bytes: Uint8Array;
}

/** Larger chunks are split, so that a reader that takes several pieces at a time stays small. */
export const maxPieceBytes = 64 * 1024;
/** Maximum number of pieces that one read returns. */
export const maxPiecesRead = 16;
/** How long pieces are kept after the last one. */
export const keptMs = 600_000;

const nothing = new Uint8Array();

/**
 * Carries event streams from workers to gateways while they arrive. The last bytes of each run are kept for a while,
 * so that a reader may begin later or fall behind. Everything may be lost at any moment: the whole stream is part of
 * the run's outcome, and offsets tell a reader what it has missed.
 */
export abstract class RunStreams {
  /** `signals` tells readers that their run has a new piece. */
  protected constructor(protected readonly signals: RunSignals) {}

  /** Calls `wake` when the run may have a new piece. The returned function ends the subscription. */
  subscribe(runId: string, wake: () => void): () => void {
    return this.signals.subscribe(runId, () => wake());
  }

  /** Opens the stream of a run for its only writer. */
  open(runId: string, mediaType: string): StreamWriter {
    return new StreamWriter((piece) => this.append(runId, piece), mediaType);
  }

  /** The pieces from an offset on, in order. Empty if there are none yet, or while the server does not answer. */
  abstract read(runId: string, from: number): Promise<StreamPiece[]>;

  /** Deletes the pieces of a run that has ended. Never rejects: if the server does not answer, they expire later. */
  abstract forget(runId: string): Promise<void>;

  /** Returns whether the piece was stored. Never rejects. */
  protected abstract append(runId: string, piece: StreamPiece): Promise<boolean>;
}

/**
 * Sends one piece at a time. Bytes that arrive meanwhile go into the next pieces. After a piece that was not stored,
 * nothing more is sent, because readers wait for the outcome once they find a gap.
 */
export class StreamWriter {
  private chunks: Uint8Array[];
  private kind: StreamPiece['kind'] = 'open';
  private start = 0;
  private isLost = false;
  private hasEnded = false;
  private sending: Promise<void> | undefined;

  constructor(
    private readonly append: (piece: StreamPiece) => Promise<boolean>,
    mediaType: string,
  ) {
    this.chunks = [new TextEncoder().encode(mediaType)];
    this.sending = this.send();
  }

  write(chunk: Uint8Array): void {
    if (this.isLost || chunk.byteLength === 0) return;
    this.chunks.push(chunk);
    this.sending ??= this.send();
  }

  /** Resolves when everything was sent. `isWhole`: the provider has ended the stream. */
  async close(isWhole: boolean): Promise<void> {
    this.hasEnded = isWhole;
    this.sending ??= this.send();
    await this.sending;
  }

  private async send(): Promise<void> {
    for (let piece = this.next(); piece !== undefined; piece = this.next()) {
      this.isLost = !(await this.append(piece));
      if (piece.kind === 'bytes') this.start += piece.bytes.byteLength;
    }
    this.sending = undefined;
  }

  private next(): StreamPiece | undefined {
    if (this.isLost) {
      this.chunks = [];
      return undefined;
    }
    const { kind, start } = this;
    if (this.chunks.length > 0) {
      this.kind = 'bytes';
      return { kind, start, bytes: this.take() };
    }
    if (!this.hasEnded) return undefined;
    this.hasEnded = false;
    return { kind: 'end', start, bytes: nothing };
  }

  private take(): Uint8Array {
    let size = 0;
    const taken: Uint8Array[] = [];
    for (let [chunk] = this.chunks; chunk !== undefined && size < maxPieceBytes; [chunk] = this.chunks) {
      const part = chunk.subarray(0, maxPieceBytes - size);
      taken.push(part);
      size += part.byteLength;
      if (part.byteLength === chunk.byteLength) this.chunks.shift();
      else this.chunks[0] = chunk.subarray(part.byteLength);
    }
    return taken.length === 1 && taken[0] ? taken[0] : Buffer.concat(taken, size);
  }
}
