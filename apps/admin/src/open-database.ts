import {
  ApiKeyRepository,
  AttemptRepository,
  BudgetRepository,
  CallRepository,
  Database,
  databaseSettings,
  NodeMirrorRepository,
  NodeModerationRepository,
  NodeRepository,
  OnboardingRepository,
  OperatorActionReader,
  OperatorReader,
  OperatorRunReader,
  OutboxRepository,
  OvershootRepository,
  ProviderCheckRepository,
  ProviderHealthRepository,
  ProviderKeyRepository,
  ProviderPauseRepository,
  ProviderReader,
  ProviderSurpriseRepository,
  RefundRepository,
  RequestReader,
  retentionSettings,
  schemaIsCurrent,
  UnknownWorkspace,
  UsageReader,
  WebhookRepository,
  WorkspaceRepository,
} from '#persistence';
import { readSettings } from '#schemas';
import { actorOf, actorSettings } from './actor.js';
import type { Answer, Desk } from './answer.js';
import { unknownName } from './unknown-name.js';

/** Opens the database for the duration of one command. */
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

/** The repositories and readers that the operator's routes use. */
export type Services = Awaited<ReturnType<typeof servicesOf>>;

async function servicesOf(database: Database, env: NodeJS.ProcessEnv) {
  const dataSource = await database.dataSource();
  const pauses = new ProviderPauseRepository(database);
  const operator = new OperatorReader(database, new CallRepository(database));
  const keys = new ApiKeyRepository(database);
  const providerKeys = new ProviderKeyRepository(database);
  const checks = new ProviderCheckRepository(database);
  return {
    /** The name that is recorded with changes. */
    actor: actorOf(readSettings(actorSettings, env)),
    database,
    workspaces: new WorkspaceRepository(database),
    keys,
    budgets: new BudgetRepository(database),
    onboarding: new OnboardingRepository(database, keys),
    usage: new UsageReader(database),
    /** Created on demand, like the next one, because only commands that read runs need the retention settings. */
    get requests() {
      return new RequestReader(database, readSettings(retentionSettings, env));
    },
    get webhooks() {
      return new WebhookRepository(database, readSettings(retentionSettings, env));
    },
    actions: new OperatorActionReader(database),
    operator,
    get runDetails() {
      const attempts = new AttemptRepository(database);
      return new OperatorRunReader(database, operator, attempts, pauses, this.webhooks);
    },
    refunds: new RefundRepository(database),
    overshoots: new OvershootRepository(database),
    pauses,
    providers: new ProviderReader(
      database,
      new OutboxRepository(database),
      new ProviderHealthRepository(database, pauses),
      checks,
      new ProviderSurpriseRepository(database),
      providerKeys,
    ),
    checks,
    providerKeys,
    nodes: new NodeRepository(dataSource),
    moderation: new NodeModerationRepository(dataSource),
    mirrors: new NodeMirrorRepository(dataSource),
  };
}

/** Opens the services for one command. Rejects a database whose schema is missing or out of date. */
export const withServices = <T>(
  env: NodeJS.ProcessEnv,
  use: (services: Services) => Promise<T>,
): Promise<T> =>
  withDatabase(env, async (database) => {
    if (!(await schemaIsCurrent(await database.dataSource())))
      throw new Error('The database schema is not up to date. Run the "migrate" command first.');
    const services = await servicesOf(database, env);
    return use(services).catch(async (error: unknown) => {
      if (!(error instanceof UnknownWorkspace)) throw error;
      throw unknownName('workspace', error.nameOrId, await services.workspaces.names());
    });
  });

/** Makes the action of a command that prints the answer of `act`. */
export const answering =
  <Words extends unknown[]>(
    desk: Desk,
    act: (services: Services, ...words: Words) => Promise<Answer>,
  ): ((...words: Words) => Promise<void>) =>
  async (...words) =>
    desk.answer(await withServices(desk.env, (services) => act(services, ...words)));
