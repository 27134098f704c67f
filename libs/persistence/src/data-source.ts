import { StartupError } from '#errors';
import { AbstractLogger, DataSource, type DataSourceOptions } from 'typeorm';
import { ApiKey } from './entities/api-key.entity.js';
import { AuditRecord, LedgerEntry } from './entities/billing.entity.js';
import { PostgresNames } from './entities/columns.js';
import { IdempotencyKey } from './entities/idempotency-key.entity.js';
import { OperatorAction, ProcessRow, ProviderPauseRow } from './entities/operations.entity.js';
import { BacklogChunk, Outbox } from './entities/outbox.entity.js';
import {
  Node,
  NodeVersion,
  Publisher,
  PublisherMember,
  RegistryMirror,
  RegistryRevision,
} from './entities/registry.entity.js';
import { Payload, Run, Tombstone } from './entities/run.entity.js';
import { StoredObject } from './entities/stored-object.entity.js';
import { Webhook } from './entities/webhook.entity.js';
import { Workspace } from './entities/workspace.entity.js';
import { schemaIsCurrent } from './migrate.js';
import { readMigrations } from './migrations.js';
import type { DatabaseSettings } from './settings.js';

/** One for each table. */
export const entities = [
  Workspace,
  ApiKey,
  Run,
  Payload,
  Tombstone,
  Outbox,
  BacklogChunk,
  Webhook,
  IdempotencyKey,
  StoredObject,
  LedgerEntry,
  AuditRecord,
  ProviderPauseRow,
  ProcessRow,
  OperatorAction,
  Publisher,
  PublisherMember,
  Node,
  NodeVersion,
  RegistryRevision,
  RegistryMirror,
];

/** A start may wait longer for its first connection than a caller's request for any later one. */
const minBootConnectMs = 10_000;

/** TypeORM prints to stdout whenever a migration fails, which is where commands print their JSON. Errors reach callers as errors. */
class SilentLogger extends AbstractLogger {
  protected override writeLog(): void {}
}

export const dataSourceOptions = (settings: DatabaseSettings): DataSourceOptions => ({
  type: 'postgres',
  url: settings.DATABASE_URL,
  entities,
  namingStrategy: new PostgresNames(),
  migrations: readMigrations(),
  logger: new SilentLogger(),
  synchronize: false,
  installExtensions: false,
  poolSize: settings.DATABASE_POOL,
  poolErrorHandler: () => {},
  extra: {
    ...poolOptions(settings),
    ...plannedOnce(settings),
    connectionTimeoutMillis: Math.max(minBootConnectMs, settings.DATABASE_ACQUIRE_MS),
  },
});

/**
 * Whether `DATABASE_URL` leads to a transaction pooler, where each transaction may have another session. Poolers refuse
 * start-up parameters, and most know nothing of prepared statements.
 */
export const isPooled = ({ DATABASE_DIRECT_URL }: DatabaseSettings): boolean =>
  DATABASE_DIRECT_URL !== undefined;

/** Postgres' largest limit of a statement. Zero would leave the limit to the role. */
const maxStatementMs = 2 ** 31 - 1;

/** What all pools have in common. Every wait is bounded: for a connection, for the server, and for an answer that never comes. */
export const poolOptions = (settings: DatabaseSettings) => ({
  connectionTimeoutMillis: settings.DATABASE_ACQUIRE_MS,
  ...(!isPooled(settings) && { statement_timeout: settings.DATABASE_STATEMENT_MS || maxStatementMs }),
  // An operator's statements are not limited.
  query_timeout: settings.DATABASE_STATEMENT_MS === 0 ? 0 : settings.DATABASE_STATEMENT_MS + 1000,
  idleTimeoutMillis: 30_000,
  keepAlive: true,
  // When a connection dies, its query fails; without a listener the error would also end the process.
  onConnect: (client: NodeJS.EventEmitter) => void client.on('error', () => {}),
});

/**
 * For statements on runs. Planning one for tables of many partitions takes longer than running it, and its values make
 * no difference: it is planned once a connection. A pooler refuses start-up parameters.
 */
export const plannedOnce = (settings: DatabaseSettings) =>
  !isPooled(settings) && { options: '-c plan_cache_mode=force_generic_plan' };

/** Connects an app; refuses a database that is away, or whose schema is not the one of this program. */
export async function openForApp(options: DataSourceOptions | undefined): Promise<DataSource> {
  const dataSource = await new DataSource(options as DataSourceOptions)
    .initialize()
    .catch((error: unknown) => {
      const { message, code } = error as NodeJS.ErrnoException;
      throw new StartupError(`The database cannot be reached: ${message || code}`, { cause: error });
    });
  if (await schemaIsCurrent(dataSource)) return dataSource;
  await dataSource.destroy();
  throw new StartupError('The database schema is not current: run "admin migrate" first.');
}
