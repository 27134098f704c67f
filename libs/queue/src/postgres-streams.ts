import type { RunSignals } from './run-signals.js';
import { maxPiecesRead, RunStreams, type StreamPiece } from './run-streams.js';

const kinds = ['open', 'bytes', 'end'] as const satisfies readonly StreamPiece['kind'][];

interface PieceRow {
  kind: number;
  start: string;
  bytes: Buffer;
}

interface Unsent {
  runId: string;
  piece: StreamPiece;
  sent: (isStored: boolean) => void;
}

type Query = <Row>(text: string, values: readonly unknown[]) => Promise<Row[] | null>;

/** Rows of an unlogged table. One statement carries the pieces of all runs that arrived during the previous one. */
export class PostgresStreams extends RunStreams {
  private unsent: Unsent[] = [];
  private isSending = false;

  /** `query` returns null if the database does not answer. */
  constructor(
    private readonly query: Query,
    private readonly keptBytes: number,
    signals: RunSignals,
  ) {
    super(signals);
  }

  async read(runId: string, from: number): Promise<StreamPiece[]> {
    const text = 'SELECT kind, start, bytes FROM read_stream($1, $2, $3)';
    const rows = (await this.query<PieceRow>(text, [runId, from, maxPiecesRead])) ?? [];
    return rows.flatMap(({ kind, start, bytes }) => {
      const named = kinds[kind];
      return named === undefined ? [] : [{ kind: named, start: Number(start), bytes }];
    });
  }

  async forget(runId: string): Promise<void> {
    await this.query('DELETE FROM stream_piece WHERE run_id = $1', [runId]);
  }

  protected append(runId: string, piece: StreamPiece): Promise<boolean> {
    return new Promise((sent) => {
      this.unsent.push({ runId, piece, sent });
      if (!this.isSending) void this.send();
    });
  }

  private async send(): Promise<void> {
    this.isSending = true;
    while (this.unsent.length > 0) {
      const sending = this.unsent;
      this.unsent = [];
      const answer = await this.query('SELECT write_stream($1, $2, $3, $4, $5)', [
        sending.map(({ runId }) => runId),
        sending.map(({ piece }) => kinds.indexOf(piece.kind)),
        sending.map(({ piece }) => piece.start),
        sending.map(({ piece: { bytes } }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
        this.keptBytes,
      ]);
      for (const { sent } of sending) sent(answer !== null);
    }
    this.isSending = false;
  }
}
