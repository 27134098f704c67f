import type { Books, CarriedRow } from '#persistence';
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { booksLine, digestLine, heading, type Heading, linesOf, rowLine } from './file-lines.js';

/** Rows that are held at once. */
const batchRows = 1000;

/** Consecutive rows of one table. */
interface Batch {
  table: string;
  rows: CarriedRow[];
}

/** Reads an exported database: first its heading, then its batches, after which every line has been checked. */
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
    throw new Error('The input does not begin as an export that this version can read.');
  }

  /** Returns the books of the exported database. Throws when a line is missing or is not the one that was written. */
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
    if (sha256 !== written) throw new Error('The input was altered: its digest is not that of its lines.');
    if (!(await this.lines.next()).done)
      throw new Error('The input was altered: it goes on after its last line.');
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
    throw new Error(`The input is truncated or altered: line ${this.read} is no line of an export.`);
  }
}
