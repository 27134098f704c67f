import { migrate } from '#persistence';
import type { CommandGroup } from '../program.js';
import { withDatabase } from '../open-database.js';

export const migrateCommand: CommandGroup = (program, desk) => {
  program
    .command('migrate')
    .description('Bring the database schema up to date; safe to run from many places at once.')
    .action(async () => {
      const migrations = await withDatabase(desk.env, async (database) =>
        migrate(await database.dataSource()),
      );
      desk.answer({
        document: { migrations },
        text:
          migrations.length === 0
            ? 'The schema was up to date already.'
            : migrations.map((name) => `ran ${name}`).join('\n'),
      });
    });
};
