import { count, list, milliseconds } from '#schemas';
import { z } from 'zod';

const addressOrRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** Settings of the public listener. */
export const httpSettings = {
  HOST: z.string().min(1).default('127.0.0.1').meta({
    description: 'Address of the public listener.',
    example: '0.0.0.0',
  }),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080).meta({
    description: 'Port of the public listener; 0 takes any free one.',
    example: '8080',
  }),
  PUBLIC_BASE_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .transform((url) => url.replace(/(?<!\/)\/+$/, ''))
    .optional()
    .meta({
      description:
        'The address callers reach the service by, as its answers name it. Absent: the origin of each call.',
      example: 'https://router.example.com',
    }),
  CORS_ALLOWED_ORIGINS: list()
    .refine((items) => items.every((item) => /^https?:\/\/[^/\s]+$/.test(item)), 'must be origins')
    .meta({
      description:
        'Origins whose pages may call the /v2 routes from a browser, separated by commas; absent: none may.',
      example: 'https://app.example.com',
    }),
  TRUSTED_PROXIES: list()
    .refine(
      (items) => items.every((item) => addressOrRange.safeParse(item).success),
      'must be IP addresses or CIDR ranges',
    )
    .meta({
      description:
        'Proxies whose X-Forwarded headers are trusted: addresses or ranges, separated by commas. Their connections have no share of MAX_CONNECTIONS; those of a load balancer that is not listed have that of one caller.',
      example: '10.0.0.0/8',
    }),
  MAX_CONNECTIONS: count(
    5000,
    'Maximum number of open connections of callers, held calls included; when there is no room for another, the one that has carried no call for the longest is closed, or the new one if all carry calls. One network of callers, and the held calls of one workspace, may have as many as are left free, at most half.',
  ),
  KEEP_ALIVE_TIMEOUT_MS: milliseconds(
    75_000,
    'How long an idle connection stays open; longer than the idle time of the load balancer in front.',
  ),
  CLOSE_TIMEOUT_MS: milliseconds(
    20_000,
    'Time limit for a stop in all: calls in flight are answered, then connections are closed.',
  ),
};

export type HttpSettings = z.infer<z.ZodObject<typeof httpSettings>>;
