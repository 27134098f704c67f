import type { RouterTask } from '#schemas';
import type { Model } from './model.js';

/**
 * The tasks of a model: from its modalities, of which the first is the one that the model is made for, and from the
 * words of its name and description.
 */
export function tasksOf({
  id,
  title = '',
  description = '',
  modalities,
}: Pick<Model, 'id' | 'title' | 'description' | 'modalities'>): RouterTask[] {
  const { in: inputs = [], out: outputs = [] } = modalities ?? {};
  const name = `${id} ${title}`.toLowerCase();
  const words = `${name} ${description.toLowerCase()}`;
  const [main] = inputs;
  const [result] = outputs;
  if (/upscal|increase.resolution|super.?resolution|restor|seedvr|flashvsr|skin.enhancer/.test(name))
    return ['upscale'];
  if (/lip.?sync|avatar|\bsync-3\b|talking/.test(name)) return ['lip-sync'];
  const found: RouterTask[] = [];
  if (outputs.includes('image')) {
    if (main === 'text') found.push('text-to-image');
    if (inputs.includes('image')) found.push('edit');
  }
  if (outputs.includes('video')) {
    if (main === 'text') found.push('text-to-video');
    if (inputs.includes('image') && main !== 'video') found.push('image-to-video');
    if (inputs.includes('video') && main !== 'text') found.push('video-edit');
  }
  if (result === 'audio') found.push(/music|song|sound effect|sfx/.test(words) ? 'music' : 'speech');
  if (outputs.includes('3d')) found.push('3d');
  if (outputs.includes('embedding')) found.push('embedding');
  if (result === 'text') found.push(main === 'audio' ? 'transcription' : 'text');
  return found;
}
