import type { JsonSchema } from '#catalog';
import { plain } from './schema-facts.js';

export type Modality = 'text' | 'image' | 'video' | 'audio' | '3d';

const kinds: Record<string, Modality> = {
  text: 'text',
  json: 'text',
  image: 'image',
  images: 'image',
  video: 'video',
  audio: 'audio',
  speech: 'audio',
  music: 'audio',
  '3d': '3d',
};

const otherCategories: Record<string, [Modality[], Modality[]]> = {
  llm: [['text'], ['text']],
  vision: [['image', 'text'], ['text']],
};

/** The kinds of content of a category such as `image-to-video`, and of its prompt. Undefined for other categories. */
export function modalitiesOf(
  category: string | undefined,
  input: JsonSchema,
): { in: Modality[]; out: Modality[] } | undefined {
  const [from, to] = otherCategories[category ?? ''] ?? splitCategory(category);
  if (from === undefined || to === undefined || from.length === 0 || to.length === 0) return undefined;
  const hasPrompt = Object.hasOwn(plain(input).properties ?? {}, 'prompt');
  const all = new Set([...(hasPrompt ? (['text'] as const) : []), ...from]);
  return { in: [...all], out: to };
}

function splitCategory(category = ''): [Modality[], Modality[]] | [] {
  const [from, to, ...more] = category.split('-to-').map((part) => kinds[part]);
  return from === undefined || to === undefined || more.length > 0 ? [] : [[from], [to]];
}
