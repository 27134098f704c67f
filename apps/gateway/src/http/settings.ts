import { count, list, milliseconds } from '#schemas';
import { z } from 'zod';

const addressOrRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** Settings of the public listener. */
export const httpSettings = {
  HOST: z.string().min(1).default('127.0.0.1').meta({
    description: 'Address that the public listener binds to. Use 0.0.0.0 in a container.',
    example: '0.0.0.0',
  }),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080).meta({
    description: 'Port of the public listener; 0 picks a free one.',
    example: '8080',
  }),
  PUBLIC_BASE_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .transform((url) => url.replace(/(?<!\/)\/+$/, ''))
    .optional()
    .meta({
      description:
        'URL at which callers reach the service; URLs in responses start with it. If unset, the origin of each call.',
      example: 'https://router.example.com',
    }),
  CORS_ALLOWED_ORIGINS: list()
    .refine(
      (items) => items.every((item) => /^https?:\/\/[^/\s]+$/.test(item)),
      'must look like https://app.example.com, several separated by commas',
    )
    .meta({
      description:
        'Origins whose pages may call the /v2 routes, and the paths for the SDKs of providers, from a browser, separated by commas; `*` as the port matches any. If unset, none may.',
      example: 'https://app.example.com',
    }),
  TRUSTED_PROXIES: list()
    .refine(
      (items) => items.every((item) => addressOrRange.safeParse(item).success),
      'must look like 10.0.0.0/8 or 10.0.0.5, several separated by commas',
    )
    .meta({
      description:
        'Proxies and load balancers whose X-Forwarded headers are trusted: addresses or CIDR ranges, separated by commas. A load balancer that is not listed counts as one caller and gets one caller’s share of MAX_CONNECTIONS.',
      example: '10.0.0.0/8',
    }),
  LOG_STATUS_POLL_SAMPLE: z.coerce.number().int().min(0).default(100).meta({
    description:
      'The gateway logs one of this many successful status polls, and the line has the number in `sampled`. 1 logs all, 0 none. Failed polls are always logged, and metrics count all polls.',
    example: '100',
  }),
  MAX_CONNECTIONS: count(
    5000,
    'Maximum number of open connections of callers per gateway, held calls included. At the limit, the longest idle connection is closed, or the new one if all carry calls. One network of callers, and the held calls of one workspace, may use as many as are left free, at most half.',
  ),
  KEEP_ALIVE_TIMEOUT_MS: milliseconds(
    75_000,
    'How long an idle connection stays open, in milliseconds. Keep it longer than the idle timeout of the load balancer in front.',
  ),
  CLOSE_TIMEOUT_MS: milliseconds(
    600_000,
    'Time limit for a graceful stop, in milliseconds. Held calls may finish until 20 s before its end (half of it, if it is below 40 s) and then get 504 deadline_exceeded. With the default, which equals that of SYNC_DEADLINE_MS, only runs that take almost ten minutes are cut short. Kubernetes must allow more: terminationGracePeriodSeconds.',
  ),
};

export type HttpSettings = z.infer<z.ZodObject<typeof httpSettings>>;
