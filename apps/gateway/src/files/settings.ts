import { count } from '#schemas';
import type { z } from 'zod';

export const fileSettings = {
  FILE_LIMIT: count(100 * 1024 * 1024, 'Maximum size of one uploaded file, in bytes.'),
};

export type FileSettings = z.infer<z.ZodObject<typeof fileSettings>>;
