import { Database } from '#persistence';

/**
 * For a Postgres that no test stops: on a busy machine an answer may be late, but it must not be rejected for
 * that.
 */
export const longTimeouts = { DATABASE_ACQUIRE_MS: '20000', DATABASE_STATEMENT_MS: '60000' };

/** The harness's own access to a database. */
export const harnessDatabase = (url: string): Database => Database.create(longTimeoutSettings(url));

/** The harness's access as an operator, without a time limit on statements. */
export const operatorDatabase = (url: string): Database =>
  Database.createForOperator(longTimeoutSettings(url));

const longTimeoutSettings = (url: string) => ({
  DATABASE_URL: url,
  DATABASE_POOL: 3,
  DATABASE_READ_POOL: 1,
  DATABASE_REGISTRY_POOL: 2,
  DATABASE_ACQUIRE_MS: 20_000,
  DATABASE_STATEMENT_MS: 60_000,
});
