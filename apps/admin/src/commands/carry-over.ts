import { type Books, DatabaseSnapshot } from '#persistence';
import type { Command } from 'commander';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { type Answer, clearLine, type Desk } from '../answer.js';
import { exportDatabase } from '../carry-over/export-database.js';
import { importDatabase } from '../carry-over/import-database.js';
import { withDatabase, withServices } from '../open-database.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';

interface ExportOptions {
  file?: string;
  leaveLiveRuns?: true;
}

export const exportCommand: CommandGroup = (program, desk) => {
  program
    .command('export')
    .description(
      'Write the database as lines of JSON, for "import" into a new one. Another version may have made it, so that "migrate" refuses it. Carried over are workspaces, keys, credits, ledger, usage, operators’ actions, pauses of providers, and the node registry. Left behind are runs, their inputs and results, callers’ files, idempotency keys, and webhooks. The lines hold the hashes of keys and the secrets of webhooks.',
    )
    .option(
      '--file <file>',
      'write to this new file, which only its owner may read (default: standard output)',
    )
    .option('--leave-live-runs', 'go on although runs are live: nobody finishes or bills them')
    .action(async (options: ExportOptions, command: Command) => {
      if (options.file === undefined && command.optsWithGlobals<{ json?: true }>().json)
        command.error('error: an export is no single JSON document; use --file');
      desk.takesLong();
      const books = await withDatabase(desk.env, (database) =>
        DatabaseSnapshot.read(database, async (snapshot) => {
          await tellOfRest(snapshot, options, desk);
          const write = (print: Desk['print']) =>
            exportDatabase(snapshot, print, (rows) => desk.status?.(`\r${rows} rows`));
          return options.file === undefined ? write(desk.print) : writeFile(options.file, write);
        }),
      ).finally(() => desk.status?.(clearLine));
      if (options.file === undefined) return;
      desk.answer(booksAnswer(books));
    });
};

export const importCommand: CommandGroup = (program, desk) => {
  program
    .command('import')
    .description(
      'Fill a new database, in which only "migrate" has run, with what "export" wrote: all of it in one transaction, after its rows and sums were compared, or nothing.',
    )
    .option('--file <file>', 'read this file (default: standard input)')
    .action(async ({ file }: { file?: string }) => {
      desk.takesLong();
      const books = await withServices(desk.env, ({ database }) =>
        importDatabase(file === undefined ? desk.input : createReadStream(file), database, {
          warn: desk.warn,
          progress: (rows) => desk.status?.(`\r${rows} rows`),
        }),
      ).finally(() => desk.status?.(clearLine));
      desk.answer(booksAnswer(books));
    });
};

/** Refuses to leave live runs behind unless it was told to, and tells what else is not carried over. */
async function tellOfRest(
  snapshot: DatabaseSnapshot,
  { leaveLiveRuns }: ExportOptions,
  desk: Desk,
): Promise<void> {
  const live = await snapshot.liveRuns();
  if (live > 0 && !leaveLiveRuns)
    throw new Error(
      `The database has live runs (${live}): drain the service first, or leave them behind with --leave-live-runs; nobody would finish or bill them.`,
    );
  if (live > 0) desk.warn(`live runs are left behind (${live}): nobody finishes or bills them.`);
  const left = await snapshot.leftBehind();
  if (left.length > 0)
    desk.warn(`left behind (rows): ${left.map(({ table, rows }) => `${table} ${rows}`).join(', ')}`);
}

/** A file that is there stays as it is; one that could not be finished is removed. */
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

/** The row counts and the sums in all; those of each workspace are in the export itself. */
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
