import { createReadStream } from 'node:fs';
import { clearLine } from '../answer.js';
import { booksAnswer } from '../carry-over/books-answer.js';
import { importDatabase } from '../carry-over/import-database.js';
import { withCurrentDatabase } from '../open-database.js';
import type { CommandGroup } from '../program.js';

export const importCommand: CommandGroup = (program, desk) => {
  program
    .command('import')
    .description(
      'Fill a new database, in which only "migrate" has run, with what "export" wrote: all of it in one transaction, after its rows and sums were compared, or nothing.',
    )
    .option('--file <file>', 'read this file (default: standard input)')
    .action(async ({ file }: { file?: string }) => {
      desk.takesLong();
      const books = await withCurrentDatabase(desk.env, (_dataSource, database) =>
        importDatabase(file === undefined ? desk.input : createReadStream(file), database, {
          warn: desk.warn,
          progress: (rows) => desk.status?.(`\r${rows} rows`),
        }),
      ).finally(() => desk.status?.(clearLine));
      desk.answer(booksAnswer(books));
    });
};
