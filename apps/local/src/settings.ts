import { z } from 'zod';

/** The launcher's own settings. Everything else in the environment is passed on to the apps. */
export const localSettings = {
  LOCAL_DIR: z.string().optional().meta({
    description: 'Folder of the local installation: data, logs, secrets. Default: .local in the checkout.',
    example: '/var/lib/model-router',
  }),
  PORT: z.coerce.number().int().min(1).max(65_535).default(8080).meta({
    description: 'Port of the gateway.',
    example: '8080',
  }),
  HOST: z.string().default('127.0.0.1').meta({
    description: 'Address that the gateway listens on.',
    example: '0.0.0.0',
  }),
  DATABASE_URL: z.string().optional().meta({
    description: 'A Postgres to use; absent, one is started for this installation.',
    example: 'postgres://router:secret@127.0.0.1:5432/router',
  }),
  REDIS_URL: z.string().optional().meta({
    description:
      'A Redis to use; absent, a redis-server or valkey-server on the PATH is started for this installation, and without one Postgres carries the deliveries.',
    example: 'redis://127.0.0.1:6379',
  }),
  S3_ENDPOINT: z.string().optional().meta({
    description: 'Address of the S3 store that holds the bucket; absent, AWS.',
    example: 'http://127.0.0.1:9000',
  }),
  S3_BUCKET: z.string().optional().meta({
    description: 'A bucket to use for assets; absent, they are files of this installation.',
    example: 'router-assets',
  }),
};

export type LocalSettings = z.infer<z.ZodObject<typeof localSettings>>;
