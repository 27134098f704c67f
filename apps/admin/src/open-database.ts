import {
  Database,
  databaseSettings,
  NodeMirrorRepository,
  NodeModerationRepository,
  NodeRepository,
  schemaIsCurrent,
  WorkspaceRepository,
} from '#persistence';
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

/** Lends the operators' verbs on workspaces, and the database they run on. */
export const withWorkspaces = <T>(
  env: NodeJS.ProcessEnv,
  use: (workspaces: WorkspaceRepository, database: Database) => Promise<T>,
): Promise<T> =>
  withDataSource(env, (dataSource, database) => use(new WorkspaceRepository(dataSource), database));

/** The operators' verbs on the node registry. */
interface RegistryVerbs {
  nodes: NodeRepository;
  moderation: NodeModerationRepository;
  mirrors: NodeMirrorRepository;
}

/** Lends the operators' verbs on the node registry. */
export const withRegistry = <T>(
  env: NodeJS.ProcessEnv,
  use: (verbs: RegistryVerbs) => Promise<T>,
): Promise<T> =>
  withDataSource(env, (dataSource) =>
    use({
      nodes: new NodeRepository(dataSource),
      moderation: new NodeModerationRepository(dataSource),
      mirrors: new NodeMirrorRepository(dataSource),
    }),
  );

/** Refuses a database whose schema is missing or older than this program. */
async function withDataSource<T>(
  env: NodeJS.ProcessEnv,
  use: (dataSource: Awaited<ReturnType<Database['openDataSource']>>, database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(env, async (database) => {
    if (!(await schemaIsCurrent(database)))
      throw new Error('The database schema is not up to date; run the command "migrate" first.');
    const dataSource = await database.openDataSource();
    try {
      return await use(dataSource, database);
    } finally {
      await dataSource.destroy();
    }
  });
}
