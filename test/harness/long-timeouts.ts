import { Database } from '#persistence';

/** For a Postgres that no test takes away: an answer is late only when the machine is busy, and never refused for that. */
export const longTimeouts = { DATABASE_ACQUIRE_MS: '20000', DATABASE_STATEMENT_MS: '20000' };

/** How the harness itself looks into a database. */
export const harnessDatabase = (url: string): Database => Database.create(longTimeoutSettings(url));

/** How the harness does what operators do: what that takes is not limited. */
export const operatorDatabase = (url: string): Database =>
  Database.createForOperator(longTimeoutSettings(url));

const longTimeoutSettings = (url: string) => ({
  DATABASE_URL: url,
  DATABASE_POOL: 3,
  DATABASE_READ_POOL: 1,
  DATABASE_REGISTRY_POOL: 1,
  DATABASE_ACQUIRE_MS: 20_000,
  DATABASE_STATEMENT_MS: 20_000,
});
