import { count } from '#schemas';
import type { z } from 'zod';

export const fileSettings = {
  FILE_LIMIT: count(100 * 1024 * 1024).meta({
    description: 'Maximum size of one uploaded file, in bytes.',
    example: '104857600',
  }),
};

export type FileSettings = z.infer<z.ZodObject<typeof fileSettings>>;
