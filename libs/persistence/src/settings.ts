import { count, databaseUrlSettings, milliseconds } from '#schemas';
import type { z } from 'zod';

export const databaseSettings = {
  ...databaseUrlSettings,
  DATABASE_POOL: count(8).meta({
    description: 'Connections for admission and the run’s life, per process.',
    example: '8',
  }),
  DATABASE_READ_POOL: count(3).meta({
    description:
      'Connections a gateway reserves for status and collect, so that they answer while admission is saturated.',
    example: '3',
  }),
  DATABASE_REGISTRY_POOL: count(2).meta({
    description:
      'Connections a gateway uses for the node registry and for lists of runs and usage, so that their readers take none from runs.',
    example: '2',
  }),
  DATABASE_ACQUIRE_MS: milliseconds(2000).meta({
    description: 'Longest wait for a connection, in milliseconds.',
    example: '2000',
  }),
  DATABASE_STATEMENT_MS: milliseconds(5000).meta({
    description: 'Longest a statement may run, in milliseconds.',
    example: '5000',
  }),
};

/** Gateways decide by these what a caller is told, and workers what is deleted: all need the same values. */
export const retentionSettings = {
  RESULT_RETENTION_SECONDS: count(86_400).meta({
    description:
      'How long after its completion a run answers and its result can be collected, in seconds; then 410. The same on gateways and workers.',
    example: '86400',
  }),
  TOMBSTONE_RETENTION_SECONDS: count(604_800).meta({
    description:
      'How long an aged-out run is remembered and answers 410, in seconds; then 404. The same on gateways and workers.',
    example: '604800',
  }),
  LEDGER_RETENTION_MONTHS: count(13).meta({
    description: 'How long ledger entries and audit records are kept, in months.',
    example: '13',
  }),
};

export type DatabaseSettings = z.infer<z.ZodObject<typeof databaseSettings>>;
export type RetentionSettings = z.infer<z.ZodObject<typeof retentionSettings>>;

/** What `DatabaseModule` is given; `app` is the name of the process. */
export type DatabaseOptions = DatabaseSettings & RetentionSettings & { app: string };

/** Injects the `DatabaseOptions`. */
export const DATABASE_OPTIONS = Symbol('database options');
