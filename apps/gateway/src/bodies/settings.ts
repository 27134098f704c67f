import { count, milliseconds } from '#schemas';
import type { z } from 'zod';

const mebibyte = 1024 * 1024;

/** Limits for reading bodies and files. */
export const bodySettings = {
  BODY_LIMIT: count(32 * mebibyte, 'Maximum size of one request body, in bytes.'),
  FILE_LIMIT: count(100 * mebibyte, 'Maximum size of one uploaded file, in bytes.'),
  BODY_BUDGET: count(
    256 * mebibyte,
    'Maximum size of all bodies above 64 KiB that a gateway holds at once, in bytes. A workspace may hold as much of it as is left free; above that its calls answer 503.',
  ),
  BODY_CHECK_TIMEOUT_MS: milliseconds(
    15_000,
    'Time limit for checking a large body, and for its wait before that.',
  ),
};

export type BodySettings = z.infer<z.ZodObject<typeof bodySettings>>;
