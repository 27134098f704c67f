import { mediaTypeOf } from '../api/media-type.ts';

export type MediaKind = 'image' | 'video' | 'audio' | '3d';

export interface Medium {
  kind: MediaKind;
  url: string;
  /** File name for downloads. */
  name: string;
}

/** The media in an output, and the text in it that is meant for people. */
export interface Findings {
  media: Medium[];
  texts: string[];
}

const kinds: Record<MediaKind, RegExp> = {
  image: /\.(png|jpe?g|webp|gif|avif|svg|bmp)$/i,
  video: /\.(mp4|webm|mov|m4v|mkv)$/i,
  audio: /\.(mp3|wav|ogg|opus|flac|m4a|aac|pcm)$/i,
  '3d': /\.(glb|gltf|obj|stl|fbx|usdz|ply|zip)$/i,
};
const spoken = new Set(['text', 'content', 'output_text', 'transcript', 'caption', 'answer', 'reasoning']);
const maxDepth = 12;

/**
 * Searches an output of any shape for media URLs, base64 media with their type, and text. `expected` decides the kind
 * of a URL whose name doesn't.
 */
export function findingsIn(output: unknown, expected: readonly string[]): Findings {
  const found: Findings = { media: [], texts: [] };
  const [only] = expected.filter((each): each is MediaKind => each in kinds);
  walk(output, '', 0);
  const urls = new Set<string>();
  found.media = found.media.filter(({ url }) => !urls.has(url) && urls.add(url));
  return found;

  function walk(value: unknown, key: string, depth: number): void {
    if (depth > maxDepth) return;
    if (typeof value === 'string') return text(value, key);
    if (Array.isArray(value)) {
      for (const item of value) walk(item, key, depth + 1);
    } else if (typeof value === 'object' && value !== null) {
      const inline = inlineOf(value as Record<string, unknown>);
      if (inline !== undefined) return add(inline.kind, inline.url);
      for (const [name, part] of Object.entries(value)) walk(part, name, depth + 1);
    }
  }

  function text(value: string, key: string): void {
    if (/^https?:\/\/\S+$/.test(value)) {
      const kind = kindOfUrl(value) ?? (isResult(key) ? only : undefined);
      if (kind !== undefined) add(kind, value);
    } else if (isDataUrl(value)) {
      const kind = kindOfType(typeOfDataUrl(value));
      if (kind !== undefined) add(kind, value);
    } else if (key === 'b64_json' || (/^[A-Za-z0-9+/]{400,}=*$/.test(value) && only !== undefined)) {
      const kind = only ?? 'image';
      add(kind, `data:${typeOfBase64(value) ?? defaultTypes[kind]};base64,${value}`);
    } else if (spoken.has(key) && value.trim() !== '') found.texts.push(value);
  }

  function add(kind: MediaKind, url: string): void {
    const [name = ''] = (isDataUrl(url) ? '' : url).split('?')[0]?.split('/').slice(-1) ?? [];
    const ending = isDataUrl(url) ? endingOf(typeOfDataUrl(url)) : 'bin';
    found.media.push({ kind, url, name: name || `${kind}.${ending}` });
  }
}

/** Whether providers use this field name for results, rather than for links to their own pages. */
const isResult = (key: string) =>
  /url|uri|sample|image|video|audio|output|file|result|model|mesh|glb/i.test(key) &&
  !/status|cancel|response|logs|web|page/i.test(key);

export function kindOfUrl(url: string): MediaKind | undefined {
  const path = /^[^?#]*/.exec(url)?.[0] ?? '';
  return allKinds.find((kind) => kinds[kind].test(path));
}

export function kindOfType(contentType: string): MediaKind | undefined {
  const mediaType = mediaTypeOf(contentType);
  if (mediaType.startsWith('model/')) return '3d';
  return allKinds.find((kind) => mediaType.startsWith(`${kind}/`));
}

const allKinds = ['image', 'video', 'audio', '3d'] as const;
const defaultTypes: Record<MediaKind, string> = {
  image: 'image/png',
  video: 'video/mp4',
  audio: 'audio/mpeg',
  '3d': 'model/gltf-binary',
};

/** Reads `{mimeType, data}` and similar objects. */
function inlineOf(value: Record<string, unknown>): { kind: MediaKind; url: string } | undefined {
  const type = value['mimeType'] ?? value['mime_type'] ?? value['media_type'];
  const data = value['data'] ?? value['bytesBase64Encoded'] ?? value['base64'];
  if (typeof type !== 'string' || typeof data !== 'string' || /^https?:/.test(data)) return undefined;
  const kind = kindOfType(type);
  return kind && { kind, url: `data:${type};base64,${data}` };
}

const starts: [start: string, type: string][] = [
  ['iVBOR', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
];
const typeOfBase64 = (text: string) => starts.find(([start]) => text.startsWith(start))?.[1];
const isDataUrl = (text: string) => /^data:/i.test(text);
const typeOfDataUrl = (url: string) => /^[^,]*/.exec(url.slice('data:'.length))?.[0] ?? '';

/** The file extension for a type: usually the first word of its subtype. */
export function endingOf(contentType: string): string {
  const mediaType = mediaTypeOf(contentType);
  return mediaType === 'audio/mpeg' ? 'mp3' : (/\/(\w+)/.exec(mediaType)?.[1] ?? 'bin');
}
