import { type Books, DatabaseSnapshot } from '#persistence';
import type { Command } from 'commander';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { type Answer, clearLine, type Desk } from '../answer.js';
import { exportDatabase } from '../carry-over/export-database.js';
import { importDatabase } from '../carry-over/import-database.js';
import { withDatabase, withServices } from '../open-database.js';
import type { CommandSetup } from '../program.js';
import { table } from '../table.js';

interface ExportOptions {
  file?: string;
  leaveLiveRuns?: true;
}

export const exportCommand: CommandSetup = (command, desk) => {
  command
    .option('--file <file>', 'write to this new file, readable only by its owner (default: standard output)')
    .option(
      '--leave-live-runs',
      'export even if there are live runs, which are then never finished or billed',
    )
    .action(async (options: ExportOptions, command: Command) => {
      if (options.file === undefined && command.optsWithGlobals<{ json?: true }>().json)
        command.error('error: an export is not a single JSON document; use --file');
      desk.takesLong();
      const books = await withDatabase(desk.env, (database) =>
        DatabaseSnapshot.read(database, async (snapshot) => {
          await checkOmittedRows(snapshot, options, desk);
          const write = (print: Desk['print']) =>
            exportDatabase(snapshot, print, (rows) => desk.status?.(`\r${rows} rows`));
          return options.file === undefined ? write(desk.print) : writeFile(options.file, write);
        }),
      ).finally(() => desk.status?.(clearLine));
      if (options.file === undefined) return;
      desk.answer(booksAnswer(books));
    });
};

export const importCommand: CommandSetup = (command, desk) => {
  command
    .option('--file <file>', 'read this file (default: standard input)')
    .action(async ({ file }: { file?: string }) => {
      desk.takesLong();
      const books = await withServices(desk.env, ({ database, actor }) =>
        importDatabase(
          file === undefined ? desk.input : createReadStream(file),
          { database, actor },
          {
            warn: desk.warn,
            progress: (rows) => desk.status?.(`\r${rows} rows`),
          },
        ),
      ).finally(() => desk.status?.(clearLine));
      desk.answer(booksAnswer(books));
    });
};

/** Fails if there are live runs, unless the operator accepts that. Warns about rows that are not exported. */
async function checkOmittedRows(
  snapshot: DatabaseSnapshot,
  { leaveLiveRuns }: ExportOptions,
  desk: Desk,
): Promise<void> {
  const live = await snapshot.liveRuns();
  if (live > 0 && !leaveLiveRuns)
    throw new Error(
      `The database has live runs (${live}). Drain the service first, or use --leave-live-runs to export without them; they would never be finished or billed.`,
    );
  if (live > 0) desk.warn(`live runs (${live}) are not exported and will never be finished or billed.`);
  const left = await snapshot.leftBehind();
  if (left.length > 0)
    desk.warn(`rows that are not exported: ${left.map(({ table, rows }) => `${table} ${rows}`).join(', ')}`);
}

/** Writes a new file, and removes it if it could not be completed. An existing file is not overwritten. */
async function writeFile(path: string, write: (print: Desk['print']) => Promise<Books>): Promise<Books> {
  const file = await open(path, 'wx', 0o600);
  try {
    const books = await write((text) => file.appendFile(text));
    await file.sync();
    return books;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** The total row counts and sums. Those of each workspace are only in the export itself. */
function booksAnswer({ rows, sums }: Books): Answer {
  const totals = Object.entries(sums).map(([amount, { all }]) => [amount, all] as const);
  return {
    document: { rows, sums: Object.fromEntries(totals) },
    text: [
      table(Object.entries(rows), { TABLE: ([name]) => name, ROWS: ([, count]) => count }),
      '',
      table(totals, { AMOUNT: ([amount]) => amount, 'SUM (MICRO-DOLLARS)': ([, sum]) => sum }),
    ].join('\n'),
  };
}
