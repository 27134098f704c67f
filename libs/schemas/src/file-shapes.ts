import { z } from 'zod';
import { moment, pageOf } from './fields.js';

/** Names one uploaded file. */
export const routerFileId = z.uuid({ version: 'v7' }).meta({
  id: 'RouterFileId',
  description: 'The id of an uploaded file.',
  example: '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234',
});

/** An uploaded file, as the upload and every later look at it answer. */
export const routerFile = z
  .object({
    id: routerFileId,
    url: z
      .url()
      .describe('Opens the file for everyone who has it, until it expires. Put it into an input as it is.'),
    content_type: z.string().meta({
      description:
        'What the file is, by its content; the announced media type counts only for texts and meshes.',
      example: 'image/png',
    }),
    size: z.int().min(1).describe('In bytes.'),
    expires_at: moment('When the file is deleted.'),
  })
  .meta({ id: 'RouterFile', description: 'A file that was uploaded.' });

export const routerFileListResponse = pageOf(routerFile, 'At most `limit` files, newest first.', {
  id: 'RouterFileListResponse',
  description: 'One page of the files of a workspace.',
});

export type RouterFile = z.infer<typeof routerFile>;
