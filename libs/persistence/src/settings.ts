import { count, countUpTo, databaseUrlSettings, milliseconds } from '#schemas';
import type { z } from 'zod';

export const databaseSettings = {
  ...databaseUrlSettings,
  DATABASE_POOL: count(
    8,
    'Connections per process that admit and advance runs. Raise it when callers wait for a connection (`router_database_connections`) and Postgres has CPU left.',
  ),
  DATABASE_READ_POOL: count(
    3,
    'Connections per process that are reserved for reading status and results, so that these calls answer while admission is saturated.',
  ),
  DATABASE_REGISTRY_POOL: count(
    3,
    'Connections per gateway for the node registry and for lists of runs and usage, at least 2. Each workspace’s lists use one at a time, and one connection always stays free for the registry.',
  ).refine((connections) => connections >= 2, 'must be at least 2, because lists leave one to the registry'),
  DATABASE_ACQUIRE_MS: milliseconds(
    2000,
    'Maximum wait for a free connection, in milliseconds. After that, calls answer 503.',
  ),
  DATABASE_STATEMENT_MS: milliseconds(
    5000,
    'Maximum time that a statement may run, in milliseconds. Behind a pooler, the role needs a `statement_timeout` of this or less.',
  ),
};

const tenYearsSeconds = 10 * 365 * 86_400;

/** Gateways use these to answer callers, and workers to delete rows, so all processes need the same values. */
export const retentionSettings = {
  RESULT_RETENTION_SECONDS: countUpTo(
    tenYearsSeconds,
    86_400,
    'How long a completed run and its result stay available, in seconds, at most ten years; afterwards they answer 410. With a day (86400) or more, the database keeps them until their day is dropped, usually 1 to 25 hours later; with less, they are deleted within minutes. Use the same value on gateways and workers.',
  ),
  LEDGER_RETENTION_MONTHS: countUpTo(
    1200,
    13,
    'How long ledger entries and audit records are kept, in months, at most 1200. Export them and lower it when they fill the disk.',
  ),
};

/** How long an aged-out run is remembered and answers 410 before it answers 404. The guide promises a week. */
export const tombstoneSeconds = 7 * 86_400;

export interface DatabaseSettings extends z.infer<z.ZodObject<typeof databaseSettings>> {
  /**
   * Jobs on Redis carry polls, copies and webhooks. Without Redis, workers take the rows themselves when they
   * are due.
   */
  REDIS_URL?: string | undefined;
}
export type RetentionSettings = z.infer<z.ZodObject<typeof retentionSettings>>;

/** The options of `DatabaseModule`. `app` is the name of the process. */
export type DatabaseOptions = DatabaseSettings & RetentionSettings & { app: string };

/** Injects the `DatabaseOptions`. */
export const DATABASE_OPTIONS = Symbol('database options');
