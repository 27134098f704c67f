import {
  Database,
  databaseSettings,
  NodeMirrorRepository,
  NodeModerationRepository,
  NodeRepository,
  schemaIsCurrent,
  UnknownWorkspace,
  WorkspaceRepository,
} from '#persistence';
import { readSettings } from '#schemas';
import { unknownName } from './unknown-name.js';

/** Lends a database for the time of one command. */
export async function withDatabase<T>(
  env: NodeJS.ProcessEnv,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = Database.createForOperator(readSettings(databaseSettings, env));
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

type OpenDataSource = Awaited<ReturnType<Database['dataSource']>>;

/** Lends what operators do with workspaces, and the database it is done on. */
export const withWorkspaces = <T>(
  env: NodeJS.ProcessEnv,
  use: (workspaces: WorkspaceRepository, database: Database) => Promise<T>,
): Promise<T> =>
  withCurrentDatabase(env, async (_dataSource, database) => {
    const workspaces = new WorkspaceRepository(database);
    try {
      return await use(workspaces, database);
    } catch (error) {
      if (!(error instanceof UnknownWorkspace)) throw error;
      throw unknownName(
        'workspace',
        error.nameOrId,
        (await workspaces.list()).map(({ name }) => name),
      );
    }
  });

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
  withCurrentDatabase(env, (dataSource) =>
    use({
      nodes: new NodeRepository(dataSource),
      moderation: new NodeModerationRepository(dataSource),
      mirrors: new NodeMirrorRepository(dataSource),
    }),
  );

/** Refuses a database whose schema is missing or older than this program. */
export async function withCurrentDatabase<T>(
  env: NodeJS.ProcessEnv,
  use: (dataSource: OpenDataSource, database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(env, async (database) => {
    const dataSource = await database.dataSource();
    if (!(await schemaIsCurrent(dataSource)))
      throw new Error('The database schema is not up to date; run the command "migrate" first.');
    return use(dataSource, database);
  });
}
