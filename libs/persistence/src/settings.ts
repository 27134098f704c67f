import { count, countUpTo, databaseUrlSettings, milliseconds } from '#schemas';
import type { z } from 'zod';

export const databaseSettings = {
  ...databaseUrlSettings,
  DATABASE_POOL: count(8, 'Connections for admission and the run’s life, per process.'),
  DATABASE_READ_POOL: count(
    3,
    'Connections a gateway reserves for status and collect, so that they answer while admission is saturated.',
  ),
  DATABASE_REGISTRY_POOL: count(
    3,
    'Connections a gateway uses for the node registry and for lists of runs and usage, so that their readers take none from runs. Lists use one at once for a workspace, and one fewer than all together, so that the registry always has one.',
  ),
  DATABASE_ACQUIRE_MS: milliseconds(2000, 'Longest wait for a connection, in milliseconds.'),
  DATABASE_STATEMENT_MS: milliseconds(5000, 'Longest a statement may run, in milliseconds.'),
};

const tenYearsSeconds = 10 * 365 * 86_400;

/** Gateways use these to answer callers, and workers to delete rows, so all processes need the same values. */
export const retentionSettings = {
  RESULT_RETENTION_SECONDS: countUpTo(
    tenYearsSeconds,
    86_400,
    'How long after its completion a run answers and its result can be collected, in seconds, ten years at most; then 410. The same on gateways and workers.',
  ),
  LEDGER_RETENTION_MONTHS: countUpTo(
    1200,
    13,
    'How long ledger entries and audit records are kept, in months, a hundred years at most.',
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
