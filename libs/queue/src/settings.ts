import { z } from 'zod';
import { milliseconds } from '#schemas';

const redisUrl = z
  .string()
  .regex(
    /^(rediss?:\/\/[^,\s]+(,\s*rediss?:\/\/[^,\s]+)*|redis\+sentinel:\/\/[^\s/]+\/[^\s/]+)$/,
    'must look like redis://host:6379, several separated by commas, or redis+sentinel://host:26379,host:26379/name',
  )
  .refine(
    (urls) => urls.startsWith('redis+sentinel:') || urls.split(',').every((url) => URL.canParse(url.trim())),
    'is not a valid URL: its host, port or password is malformed',
  );

/** Without `REDIS_URL` the database carries wake-ups and signals, so its settings matter too. */
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
  // A check may be skipped because the previous one was slightly late, so the jobs of a killed worker wait
  // for the lock plus twice this time: 19 s. Rows wait only for the lock.
  QUEUE_STALLED_MS: milliseconds(2_000, 'How often workers look for jobs on Redis whose owner has died.'),
};

export interface QueueSettings extends z.infer<z.ZodObject<typeof queueSettings>> {
  DATABASE_URL?: string | undefined;
  /** Bypasses a transaction pooler, for LISTEN and session locks. */
  DATABASE_DIRECT_URL?: string | undefined;
  /** The first secret seals announcements, and each of them can open one. */
  SIGNING_SECRET: readonly string[];
}
