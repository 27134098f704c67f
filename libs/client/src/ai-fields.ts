import type { InputBuilder, InputSchema } from './ai-input.js';

// The names that models have for the options of a call. The first that a model has is used.
const prompts = [
  'prompt',
  'text_prompt',
  'prompt_text',
  'promptText',
  'positivePrompt',
  'instruction',
  'text',
];
export const spoken = ['text', 'input', 'text_prompt', 'prompt'];
export const counts = ['n', 'num_images', 'numberResults', 'sampleCount'];
export const ratios = ['aspect_ratio', 'aspectRatio', 'ratio'];
export const seeds = ['seed', 'random_seed'];
const oneImage = [
  'image',
  'image_url',
  'input_image',
  'img_url',
  'image_uri',
  'promptImage',
  'first_frame_image',
  'image_prompt',
];
const firstFrames = ['first_frame_image', 'first_frame_img', ...oneImage, 'images', 'image_urls'];
export const lastFrames = ['last_frame_image', 'last_frame_img', 'last_image', 'end_image_url', 'image_tail'];
const manyImages = ['images', 'image_urls', 'reference_images', 'referenceImages', 'ref_images', 'image'];
export const masks = ['mask', 'mask_url', 'mask_image'];

/** Puts an option into a field, or records that no field takes it. */
export type Put = (feature: string, names: readonly string[], ...notations: unknown[]) => void;

/** The schema of the input in a model's document. */
export function inputSchemaOf(document: Record<string, unknown>): InputSchema {
  const [path] = Object.values((document['paths'] ?? {}) as Record<string, unknown>);
  const { post } = (path ?? {}) as {
    post?: { requestBody?: { content?: Record<string, { schema?: InputSchema }> } };
  };
  return post?.requestBody?.content?.['application/json']?.schema ?? {};
}

export function putPrompt(builder: InputBuilder, put: Put, prompt: string | undefined): void {
  if (prompt === undefined || builder.addContent({ type: 'text', text: prompt })) return;
  put('prompt', prompts, prompt);
}

export function putSize(builder: InputBuilder, put: Put, size: string | undefined): void {
  const [width, height] = (size ?? '').split('x').map(Number);
  if (size === undefined || builder.put(['size'], size, size.replace('x', '*'))) return;
  if (!(builder.put(['width'], width) && builder.put(['height'], height))) put('size', [], size);
}

/** One image goes into the field for one, several into a list or into numbered fields. */
export function putImages(builder: InputBuilder, put: Put, urls: string[]): void {
  const [first] = urls;
  if (first === undefined) return;
  if (urls.length > 1 && builder.put(manyImages, urls)) return;
  if (urls.length > 1 && builder.put(['input_image'], first)) {
    for (const [index, url] of urls.slice(1).entries()) put('files', [`input_image_${index + 2}`], url);
    return;
  }
  if (builder.addContent({ type: 'image_url', image_url: { url: first } })) {
    for (const url of urls.slice(1)) builder.addContent({ type: 'image_url', image_url: { url } });
    return;
  }
  put('files', [...oneImage, ...manyImages], first, [first]);
  if (urls.length > 1) put('files', [], urls);
}

export function putFirstFrame(builder: InputBuilder, put: Put, url: string): void {
  if (builder.addContent({ type: 'image_url', image_url: { url }, role: 'first_frame' })) return;
  put('image', firstFrames, url, [url]);
}

export const ratioNotations = (ratio: string | undefined) =>
  ratio === undefined ? [] : [ratio, ratio.replace(':', 'x')];

/** `1280x720` is `720p` for many models. */
export function resolutionNotations(resolution: string | undefined): string[] {
  if (resolution === undefined) return [];
  const lines = Math.min(...resolution.split('x').map(Number));
  const names = lines === 2160 ? [`${lines}p`, '4k'] : [`${lines}p`];
  return [resolution, resolution.replace('x', '*'), ...names];
}
