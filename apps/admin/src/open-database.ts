import { Database, databaseSettings, schemaIsCurrent, Workspaces } from '#persistence';
import { readSettings } from '#schemas';

/** Lends a database for the time of one command. */
export async function withDatabase<T>(
  env: NodeJS.ProcessEnv,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = new Database(readSettings(databaseSettings, env));
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** Lends the operators' verbs, and the database they run on; refuses a database whose schema is missing or older than this program. */
export async function withWorkspaces<T>(
  env: NodeJS.ProcessEnv,
  use: (workspaces: Workspaces, database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(env, async (database) => {
    if (!(await schemaIsCurrent(database)))
      throw new Error('The database schema is not up to date; run the command "migrate" first.');
    const dataSource = await database.openDataSource();
    try {
      return await use(new Workspaces(dataSource), database);
    } finally {
      await dataSource.destroy();
    }
  });
}
