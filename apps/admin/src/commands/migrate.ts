import { migrate } from '#persistence';
import type { CommandGroup } from '../program.js';
import { withDatabase } from '../open-database.js';

export const migrateCommand: CommandGroup = (program, desk) => {
  program
    .command('migrate')
    .description('Bring the database schema up to date. Safe to run from several places at once.')
    .action(async () => {
      const migrated = await withDatabase(desk.env, async (database) => migrate(await database.dataSource()));
      const lines = [
        ...migrated.migrations.map((name) => `ran ${name}`),
        ...(migrated.functions ? ['replaced the functions'] : []),
      ];
      desk.answer({
        document: migrated,
        text: lines.length === 0 ? 'The schema is already up to date.' : lines.join('\n'),
      });
    });
};
