import type { ModelEntry } from '../api/models.ts';

/** The tasks of models, in the order of the filter. */
export const tasks = [
  'text-to-image',
  'edit',
  'upscale',
  'text-to-video',
  'image-to-video',
  'video-edit',
  'lip-sync',
  'speech',
  'transcription',
  'music',
  '3d',
  'text',
  'embedding',
] as const satisfies readonly ModelEntry['tasks'][number][];
export type Task = ModelEntry['tasks'][number];
