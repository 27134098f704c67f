import { StartupError } from '#errors';
import { Client, type Pool } from 'pg';
import { AbstractLogger, DataSource, type DataSourceOptions } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import * as billing from './entities/billing.entity.js';
import * as budgets from './entities/budget.entity.js';
import { PostgresNames } from './entities/columns.js';
import * as operations from './entities/operations.entity.js';
import * as registry from './entities/registry.entity.js';
import * as runs from './entities/run.entity.js';
import * as workspaces from './entities/workspace.entity.js';
import { schemaIsCurrent } from './migrate.js';
import { readMigrations } from './migrations.js';
import type { Pools } from './pools.js';

/** Each module exports only entities. */
const entityModules = [workspaces, budgets, runs, billing, operations, registry];

/** Startup and operators' commands may wait longer for a connection than a caller's request. */
export const minConnectMs = 10_000;

/** TypeORM prints failed migrations to stdout, where commands print their JSON. The errors are thrown anyway. */
class SilentLogger extends AbstractLogger {
  protected override writeLog(): void {}
}

/** Makes TypeORM use the work pool: `driver` replaces the package whose `Pool` it would construct. */
export const dataSourceOptions = ({ work: { pool }, settings }: Pools): PostgresDataSourceOptions => ({
  type: 'postgres',
  url: settings.DATABASE_URL,
  driver: {
    Pool: function (): Pool {
      return pool;
    },
  },
  entities: entityModules.flatMap((module) => Object.values(module)),
  namingStrategy: new PostgresNames(),
  migrations: readMigrations(),
  logger: new SilentLogger(),
  synchronize: false,
  installExtensions: false,
  poolErrorHandler: () => {},
});

/** Connects an app. Fails if the database cannot be reached or its schema is not current. */
export async function openForApp(options: DataSourceOptions | undefined): Promise<DataSource> {
  const source = new DataSource(options as PostgresDataSourceOptions);
  const { url } = options as PostgresDataSourceOptions;
  const first = new Client({ connectionString: url, connectionTimeoutMillis: minConnectMs });
  try {
    await first.connect();
    await first.end();
    await source.initialize();
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartupError(`The database cannot be reached: ${message || code}`, { cause: error });
  }
  if (await schemaIsCurrent(source)) return source;
  await source.destroy();
  throw new StartupError('The database schema is not current: run "admin migrate" first.');
}
