import { migrate, type PlannedMigration, planMigration } from '#persistence';
import type { Answer, Desk } from '../answer.js';
import { withDatabase } from '../open-database.js';
import type { CommandSetup } from '../program.js';
import { table } from '../table.js';

export const migrateCommand: CommandSetup = (command, desk) => {
  command
    .option('--plan', 'only show what is missing, with the tables and their estimated rows')
    .action(async ({ plan }: { plan?: true }) =>
      desk.answer(await (plan ? planned(desk.env) : migrated(desk))),
    );
};

async function migrated(desk: Desk): Promise<Answer> {
  desk.takesLong();
  const document = await withDatabase(desk.env, async (database) =>
    migrate(await database.dataSource(), { database: database.reads, report: desk.tell }),
  );
  const lines = [
    ...document.migrations.map((name) => `ran ${name}`),
    ...(document.functions ? ['replaced the functions'] : []),
  ];
  return { document, text: lines.join('\n') || upToDate };
}

async function planned(env: NodeJS.ProcessEnv): Promise<Answer> {
  const document = await withDatabase(env, async (database) => planMigration(await database.dataSource()));
  const { migrations, functions } = document;
  const lines = [
    ...(migrations.length === 0 ? [] : [planText(migrations)]),
    ...(functions ? ['The functions will be replaced.'] : []),
  ];
  return { document, text: lines.join('\n') || upToDate };
}

const upToDate = 'The schema is already up to date.';

const planText = (migrations: readonly PlannedMigration[]): string =>
  table(migrations, {
    MIGRATION: ({ name }) => name,
    RUNS: ({ transaction }) => (transaction ? 'in one transaction' : 'without keeping writers waiting'),
    'TABLES (ABOUT ROWS)': ({ tables }) =>
      tables.map(({ name, rows }) => `${name} (${rows})`).join(', ') || '-',
  });
