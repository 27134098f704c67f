import { migrate } from '#persistence';
import type { CommandSetup } from '../program.js';
import { withDatabase } from '../open-database.js';

export const migrateCommand: CommandSetup = (command, desk) => {
  command.action(async () => {
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
