import { count, milliseconds } from '#schemas';
import type { z } from 'zod';

const mebibyte = 1024 * 1024;

/** What reading bodies is bounded by. */
export const bodySettings = {
  BODY_LIMIT: count(32 * mebibyte).meta({
    description: 'Maximum size of one request body, in bytes.',
    example: '33554432',
  }),
  BODY_BUDGET: count(256 * mebibyte).meta({
    description:
      'Maximum size of all bodies that a gateway holds at once, in bytes; above it calls answer 503.',
    example: '268435456',
  }),
  BODY_CHECK_AT_ONCE: count(64 * 1024).meta({
    description:
      'Largest body, in bytes, that is checked between other calls; larger ones are checked in a thread beside the event loop.',
    example: '65536',
  }),
  BODY_CHECK_TIMEOUT_MS: milliseconds(15_000).meta({
    description: 'Time limit for checking a large body, its wait for a thread included.',
    example: '15000',
  }),
};

export type BodySettings = z.infer<z.ZodObject<typeof bodySettings>>;
