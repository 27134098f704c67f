import { z } from 'zod';

/** The launcher's own settings. Everything else in the environment is passed on to the apps. */
export const localSettings = {
  LOCAL_DIR: z.string().optional().meta({
    description:
      'Directory of the local installation: data, logs and secrets. If unset, .local in the checkout.',
    example: '/var/lib/model-router',
  }),
  PORT: z.coerce.number().int().min(1).max(65_535).default(8080).meta({
    description: 'Port of the gateway.',
    example: '8080',
  }),
  HOST: z.string().default('127.0.0.1').meta({
    description: 'Address that the gateway binds to.',
    example: '0.0.0.0',
  }),
  DATABASE_URL: z.string().optional().meta({
    description: 'Postgres to use. If unset, the launcher starts one.',
    example: 'postgres://router:secret@127.0.0.1:5432/router',
  }),
  REDIS_URL: z.string().optional().meta({
    description:
      'Redis to use. If unset, the launcher starts a redis-server or valkey-server that it finds on the PATH; without one, Postgres does the work.',
    example: 'redis://127.0.0.1:6379',
  }),
  S3_ENDPOINT: z.string().optional().meta({
    description: 'URL of the S3 service that has the bucket. If unset, AWS.',
    example: 'http://127.0.0.1:9000',
  }),
  S3_BUCKET: z.string().optional().meta({
    description: 'Bucket for assets. If unset, they are files in LOCAL_DIR.',
    example: 'router-assets',
  }),
};

export type LocalSettings = z.infer<z.ZodObject<typeof localSettings>>;
