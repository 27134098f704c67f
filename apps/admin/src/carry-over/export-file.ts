import type { Books, CarriedRow } from '#persistence';
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { booksLine, digestLine, heading, type Heading, linesOf, rowLine } from './file-lines.js';

/** Number of rows held in memory. */
const batchRows = 1000;

/** Consecutive rows of one table. */
interface Batch {
  table: string;
  rows: CarriedRow[];
}

/** Reads an exported database: the heading, then the batches. After the last batch all lines are verified. */
export class ExportFile {
  private readonly lines: AsyncGenerator<Buffer>;
  private readonly digest = createHash('sha256');
  private read = 0;

  constructor(input: AsyncIterable<Buffer | string>) {
    this.lines = linesOf(input);
  }

  async heading(): Promise<Heading> {
    const first = await this.lines.next();
    const found = heading.safeParse(first.done ? undefined : this.parsed(first.value));
    if (found.success) return found.data;
    throw new Error('The input is not an export that this version can read.');
  }

  /** Yields the rows, and returns the books of the export. Throws if a line is missing or was changed. */
  async *batches(): AsyncGenerator<Batch, Books> {
    let batch: Batch | undefined;
    for (;;) {
      const value = await this.next();
      const line = rowLine.safeParse(value).data;
      if (batch && (batch.table !== line?.table || batch.rows.length === batchRows)) {
        yield batch;
        batch = undefined;
      }
      if (!line) return this.end(value);
      batch ??= { table: line.table, rows: [] };
      batch.rows.push(line.row);
    }
  }

  /** Closes the input. */
  async close(): Promise<void> {
    await this.lines.return(undefined);
  }

  private async end(value: unknown): Promise<Books> {
    const { books } = this.as(booksLine, value);
    const written = this.digest.copy().digest('hex');
    const { sha256 } = this.as(digestLine, await this.next());
    if (sha256 !== written) throw new Error('The input was altered: its digest does not match its lines.');
    if (!(await this.lines.next()).done)
      throw new Error('The input was altered: it continues after its last line.');
    return books;
  }

  private async next(): Promise<unknown> {
    const line = await this.lines.next();
    if (line.done) throw new Error(`The input is truncated: it ends after line ${this.read}.`);
    return this.parsed(line.value);
  }

  private parsed(line: Buffer): unknown {
    this.read += 1;
    this.digest.update(line).update('\n');
    try {
      return JSON.parse(line.toString()) as unknown;
    } catch {
      return undefined;
    }
  }

  private as<Shape extends z.ZodType>(shape: Shape, value: unknown): z.infer<Shape> {
    const found = shape.safeParse(value);
    if (found.success) return found.data;
    throw new Error(`The input is truncated or altered: line ${this.read} is not a line of an export.`);
  }
}
