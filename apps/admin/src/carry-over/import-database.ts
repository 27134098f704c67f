import { type Books, type Database, difference, NewDatabase } from '#persistence';
import { ExportFile } from './export-file.js';

interface Target {
  database: Database;
  /** The name that is recorded with the import. */
  actor: string;
}

interface Reporter {
  warn: (text: string) => void;
  /** Receives the number of rows read so far. */
  progress: (rows: number) => void;
}

/** Fills an empty database from an export, or changes nothing. Returns the books of the inserted rows. */
export async function importDatabase(
  input: AsyncIterable<Buffer | string>,
  { database, actor }: Target,
  reporter: Reporter,
): Promise<Books> {
  const file = new ExportFile(input);
  try {
    const { tables, exported_at, migrations } = await file.heading();
    return await NewDatabase.fill(database, tables, async (target) => {
      warnOfDifferences(target, tables, reporter);
      const expected = await insertAll(file, target, reporter);
      const books = await target.books();
      const found = difference(expected, books);
      if (found !== null) throw new Error(`The inserted rows differ from the exported ones: ${found}.`);
      await target.finish(actor, exported_at, { migrations, rows: books.rows });
      return books;
    });
  } finally {
    await file.close();
  }
}

function warnOfDifferences(target: NewDatabase, tables: Record<string, string[]>, { warn }: Reporter): void {
  const unknown = target.unknown(tables);
  const missing = target.missing(tables);
  if (unknown.length > 0)
    warn(`skipped, because this version does not have these tables or columns: ${unknown.join(', ')}`);
  if (missing.length > 0)
    warn(`empty or set to defaults, because the export does not contain them: ${missing.join(', ')}`);
}

/** Inserts one batch at a time and returns the books at the end of the file. */
async function insertAll(file: ExportFile, target: NewDatabase, { progress }: Reporter): Promise<Books> {
  const batches = file.batches();
  let read = 0;
  for (;;) {
    const next = await batches.next();
    if (next.done) return next.value;
    const { table, rows } = next.value;
    await target.insert(table, rows).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`Rows of ${table} were rejected: ${reason}`, { cause: error });
    });
    progress((read += rows.length));
  }
}
