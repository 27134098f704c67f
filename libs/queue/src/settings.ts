import { z } from 'zod';
import { count, milliseconds } from '#schemas';

const redisUrl = z
  .string()
  .regex(
    /^(rediss?:\/\/[^,\s]+(,\s*rediss?:\/\/[^,\s]+)*|redis\+sentinel:\/\/[^\s/]+\/[^\s/]+)$/,
    'must look like redis://host:6379, several separated by commas, or redis+sentinel://host:26379,host:26379/name',
  )
  .refine(
    (urls) => urls.startsWith('redis+sentinel:') || urls.split(',').every((url) => URL.canParse(url.trim())),
    'must be a valid URL: check the host and port, and percent-encode special characters in the password',
  );

/** Without `REDIS_URL` the database carries wake-ups and signals, so its settings matter too. */
export const queueSettings = {
  REDIS_URL: redisUrl.optional().meta({
    description:
      'Redis or Valkey, which carries jobs, wake-ups and signals. Separate the URLs of a cluster by commas; for Sentinel, use redis+sentinel://:password@host:26379,host:26379/name. If unset, Postgres does this work.',
    example: 'redis://127.0.0.1:6379',
  }),
  QUEUE_COMMAND_TIMEOUT_MS: milliseconds(
    500,
    'Maximum wait for an answer of Redis, in milliseconds. A run that could not be enqueued in that time is left to the reconciler.',
  ),
  QUEUE_LOCK_MS: milliseconds(
    15_000,
    'How long a worker owns a job (without Redis, a due row) without renewing its lock, in milliseconds. Afterwards another worker may take it.',
  ),
  STREAM_KEPT_BYTES: count(
    1024 * 1024,
    'Maximum size of the part of an event stream that is kept for its readers while the run is in progress, in bytes. A caller that falls further behind waits for the end of the run and then receives the rest.',
  ),
  // A check may be skipped because the previous one was slightly late, so the jobs of a killed worker wait
  // for the lock plus twice this time: 19 s. Rows wait only for the lock.
  QUEUE_STALLED_MS: milliseconds(
    2_000,
    'Interval at which workers look for jobs on Redis whose worker has died, in milliseconds.',
  ),
};

export interface QueueSettings extends z.infer<z.ZodObject<typeof queueSettings>> {
  DATABASE_URL?: string | undefined;
  /** Bypasses a transaction pooler, for LISTEN and session locks. */
  DATABASE_DIRECT_URL?: string | undefined;
  /** The first secret seals announcements, and each of them can open one. */
  SIGNING_SECRET: readonly string[];
}
