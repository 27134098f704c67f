import { count, milliseconds } from '#schemas';
import type { z } from 'zod';

const mebibyte = 1024 * 1024;

/** Limits for reading bodies and files. */
export const bodySettings = {
  BODY_LIMIT: count(32 * mebibyte, 'Maximum size of a request body, in bytes.'),
  FILE_LIMIT: count(100 * mebibyte, 'Maximum size of an uploaded file, in bytes.'),
  BODY_BUDGET: count(
    256 * mebibyte,
    'Maximum total size of the bodies above 64 KiB that a gateway holds at once, in bytes. A workspace may use as much as is left free; its calls beyond that answer 429, or 503 if others hold more.',
  ),
  BODY_CHECK_TIMEOUT_MS: milliseconds(
    15_000,
    'Time limit for checking a large body, and for its wait before that, in milliseconds.',
  ),
};

export type BodySettings = z.infer<z.ZodObject<typeof bodySettings>>;
