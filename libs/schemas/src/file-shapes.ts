import { z } from 'zod';
import { moment, pageOf } from './fields.js';

/** The id of an uploaded file. */
export const routerFileId = z.uuid({ version: 'v7' }).meta({
  id: 'RouterFileId',
  description: 'The id of an uploaded file.',
  example: '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234',
});

/** An uploaded file, as returned by the upload and by later reads. */
export const routerFile = z
  .object({
    id: routerFileId,
    url: z
      .url()
      .describe(
        'The URL of the file. Anyone with it can read the file until it expires. Use it unchanged in an input.',
      ),
    content_type: z.string().meta({
      description:
        'The media type, detected from the content. The declared media type counts only for text and meshes.',
      example: 'image/png',
    }),
    size: z.int().min(1).describe('The size in bytes.'),
    expires_at: moment('When the file expires and is deleted.'),
  })
  .meta({ id: 'RouterFile', description: 'An uploaded file.' });

export const routerFileListResponse = pageOf(routerFile, 'At most `limit` files, newest first.', {
  id: 'RouterFileListResponse',
  description: 'One page of the files of a workspace.',
});

export type RouterFile = z.infer<typeof routerFile>;
