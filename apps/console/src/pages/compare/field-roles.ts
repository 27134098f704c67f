/** Fields that mean the same in many models, by their names. A value goes into the first that the other model has. */
const roles: readonly (readonly string[])[] = [
  ['prompt', 'text_prompt', 'prompt_text', 'promptText', 'positivePrompt', 'instruction', 'text', 'input'],
  ['negative_prompt', 'negativePrompt'],
  ['aspect_ratio', 'aspectRatio', 'ratio'],
  ['resolution', 'output_resolution'],
  ['duration', 'seconds', 'duration_seconds', 'durationSeconds', 'length'],
  ['n', 'num_images', 'numberResults', 'sampleCount', 'num_outputs', 'number_of_images'],
  ['seed', 'random_seed'],
  ['output_format', 'outputFormat', 'format'],
  ['guidance', 'guidance_scale', 'cfg_scale', 'CFGScale'],
  ['steps', 'num_inference_steps'],
  ['generate_audio', 'generateAudio', 'with_audio', 'enable_audio', 'sound'],
  ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens'],
  [
    'last_frame_image',
    'last_frame_img',
    'last_frame',
    'lastFrame',
    'last_image',
    'end_image_url',
    'image_tail',
  ],
  ['mask', 'mask_url', 'mask_image'],
];

export const promptNames = roles[0] ?? [];
export const sizeNames = ['size', 'image_size', 'imageSize', 'dimensions', 'resolution'];
export const ratioNames = roles[2] ?? [];

/** The names of a field in other models, its own first. IDs mean nothing to another model. */
export function namesFor(name: string): readonly string[] {
  if (/(_id|Id)$/.test(name)) return [];
  const others = roles.find((names) => names.includes(name)) ?? [];
  return [name, ...others.filter((each) => each !== name)];
}

/** Whether only a field of the same role takes the file: a mask isn't a first frame. */
export const isSpecialFile = (name: string): boolean => /mask|last|end_|tail/i.test(name);
