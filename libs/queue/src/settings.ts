import { z } from 'zod';
import { milliseconds } from '#schemas';

const serverUrl = (pattern: RegExp, shown: string) => z.string().regex(pattern, `must look like ${shown}`);

const redisUrl = serverUrl(
  /^rediss?:\/\/[^,\s]+(,\s*rediss?:\/\/[^,\s]+)*$/,
  'redis://host:6379, or several of them separated by commas',
);
const databaseUrl = serverUrl(/^postgres(ql)?:\/\/\S+$/, 'postgres://user:password@host:5432/name');

/** What the transport reads; without `REDIS_URL` it runs on the database. */
export const queueSettings = {
  REDIS_URL: redisUrl.optional().meta({
    description:
      'Redis or Valkey that carries run ids and wake-ups; several URLs separated by commas mean a cluster. Absent: the database carries them.',
    example: 'redis://127.0.0.1:6379',
  }),
  DATABASE_URL: databaseUrl.optional().meta({
    description: 'The Postgres that holds every run.',
    example: 'postgres://router:secret@127.0.0.1:5432/router',
  }),
  DATABASE_DIRECT_URL: databaseUrl.optional().meta({
    description:
      'The same Postgres past a transaction pooler, for LISTEN and session locks. Absent: DATABASE_URL.',
    example: 'postgres://router:secret@10.0.0.5:5432/router',
  }),
  QUEUE_COMMAND_TIMEOUT_MS: milliseconds(500).meta({
    description: 'How long a caller waits for the queue server before the delivery is left to the sweep.',
    example: '500',
  }),
  QUEUE_LOCK_MS: milliseconds(15_000).meta({
    description: 'How long a worker owns a job without renewing its lock.',
    example: '15000',
  }),
  // A look may be skipped because the one before it was a moment late, so a killed worker's jobs wait for
  // the lock and twice this time: 19 s.
  QUEUE_STALLED_MS: milliseconds(2_000).meta({
    description: 'How often workers look for jobs whose owner has died.',
    example: '2000',
  }),
};

export type QueueSettings = z.infer<z.ZodObject<typeof queueSettings>>;

/** What the board of the lanes reads. */
export const boardSettings = {
  QUEUE_BOARD_PASSWORD: z.string().min(16, 'must have at least 16 characters').optional().meta({
    description:
      'Password of the user operator for the board of the lanes, at /queues of the internal listener. Absent: there is no board.',
    example: 'replace-me-with-16-characters-or-more',
  }),
  QUEUE_BOARD_WRITABLE: z.stringbool().default(false).meta({
    description: 'Whether jobs may be changed on the board.',
    example: 'false',
  }),
};

export type BoardSettings = z.infer<z.ZodObject<typeof boardSettings>>;
