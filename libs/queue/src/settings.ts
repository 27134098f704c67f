import { z } from 'zod';
import { milliseconds } from '#schemas';

const redisUrl = z
  .string()
  .regex(
    /^(rediss?:\/\/[^,\s]+(,\s*rediss?:\/\/[^,\s]+)*|redis\+sentinel:\/\/[^\s/]+\/[^\s/]+)$/,
    'must look like redis://host:6379, several of them separated by commas, or redis+sentinel://host:26379,host:26379/name',
  )
  .refine(
    (urls) => urls.startsWith('redis+sentinel:') || urls.split(',').every((url) => URL.canParse(url.trim())),
    'is no URL: its host, port or password is malformed',
  );

/** The settings of the database belong to it too: without `REDIS_URL` it carries wake-ups and signals. */
export const queueSettings = {
  REDIS_URL: redisUrl.optional().meta({
    description:
      'Redis or Valkey that carries jobs, wake-ups and signals; several URLs separated by commas mean a cluster; redis+sentinel://:password@host:26379,host:26379/name finds the primary of that name by its sentinels. Absent: workers take due rows from the database, which also carries wake-ups and signals.',
    example: 'redis://127.0.0.1:6379',
  }),
  QUEUE_COMMAND_TIMEOUT_MS: milliseconds(
    500,
    'How long a caller waits for the queue server before the run is left to the reconciler.',
  ),
  QUEUE_LOCK_MS: milliseconds(
    15_000,
    'How long a worker owns a job, or without Redis a due row, unless it renews its lock.',
  ),
  // A check may be skipped because the one before it was a moment late, so a killed worker's jobs wait for
  // the lock and twice this time: 19 s. Rows wait for the lock alone.
  QUEUE_STALLED_MS: milliseconds(2_000, 'How often workers look for jobs on Redis whose owner has died.'),
};

export interface QueueSettings extends z.infer<z.ZodObject<typeof queueSettings>> {
  DATABASE_URL?: string | undefined;
  /** Past a transaction pooler, for LISTEN and session locks. */
  DATABASE_DIRECT_URL?: string | undefined;
  /** The first one seals what signals carry, and any of them opens it. */
  SIGNING_SECRET: readonly string[];
}
