import { type Books, type Database, difference, NewDatabase } from '#persistence';
import { actor } from '../actor.js';
import { ExportFile } from './export-file.js';

interface Told {
  warn: (text: string) => void;
  /** Gets the number of rows that were read. */
  progress: (rows: number) => void;
}

/** Fills an empty database with an exported one, or changes nothing; answers the books of what was inserted. */
export async function importDatabase(
  input: AsyncIterable<Buffer | string>,
  database: Database,
  told: Told,
): Promise<Books> {
  const file = new ExportFile(input);
  try {
    const { tables, exported_at, migrations } = await file.heading();
    return await NewDatabase.fill(database, tables, async (target) => {
      warnOfDifferences(target, tables, told);
      const expected = await insertAll(file, target, told);
      const books = await target.books();
      const found = difference(expected, books);
      if (found !== null) throw new Error(`What was inserted is not what was exported: ${found}.`);
      await target.finish(actor(), exported_at, { migrations, rows: books.rows });
      return books;
    });
  } finally {
    await file.close();
  }
}

function warnOfDifferences(target: NewDatabase, tables: Record<string, string[]>, { warn }: Told): void {
  const unknown = target.unknown(tables);
  const missing = target.missing(tables);
  if (unknown.length > 0)
    warn(`left out, since this version has no such tables or columns: ${unknown.join(', ')}`);
  if (missing.length > 0)
    warn(`empty or at their defaults, since the export has none: ${missing.join(', ')}`);
}

/** Inserts one batch at a time; answers the books that the file ends with. */
async function insertAll(file: ExportFile, target: NewDatabase, { progress }: Told): Promise<Books> {
  const batches = file.batches();
  let read = 0;
  for (;;) {
    const next = await batches.next();
    if (next.done) return next.value;
    const { table, rows } = next.value;
    await target.insert(table, rows).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`Rows of ${table} were refused: ${reason}`, { cause: error });
    });
    progress((read += rows.length));
  }
}
