import { z } from 'zod';

/** The origin of a file that `admin catalog import` wrote. */
export const generated = z
  .strictObject({
    from: z.url().describe('The address at which the source publishes the model.'),
    hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe(
        'The SHA-256 of the file without this member, and of the document beside it. If they differ, somebody has edited the file, and imports leave it as it is.',
      ),
    at: z.iso.date().describe('The day (UTC) of the import.'),
  })
  .optional()
  .describe('The origin of the file, written by `admin catalog import` as its last member.');
