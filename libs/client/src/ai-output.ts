import type { RunResult } from './router.js';

export type MediaKind = 'image' | 'video' | 'audio';

/** A file of an output: bytes, or a URL that opens it. */
export type Media = { mediaType: string } & ({ bytes: Uint8Array } | { url: string });

const extensions: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  avif: 'image/avif',
  svg: 'image/svg+xml',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
};
const defaults: Readonly<Record<MediaKind, string>> = {
  image: 'image/png',
  video: 'video/mp4',
  audio: 'audio/mpeg',
};
/** Members with further files beside the output itself. */
const beside = /watermark|cover|thumb|preview|last_?frame|draft|poster|source|origin|input|mask/i;
/** Base64 that is too long for a text, or begins like a PNG, JPEG, GIF, WebP, MP4 or MP3. */
const base64 =
  /^(?:[A-Za-z0-9+/]{200,}|(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|AAAA[\w+/]{4}ZnR5c|SUQz)[A-Za-z0-9+/]*)={0,2}$/;

/**
 * The files of this kind in an output, in order: a binary output is one, and a JSON output has URLs or base64. Files
 * that only accompany the output count if there are no others. `given` are texts of the input, which some outputs
 * repeat.
 */
export function mediaOf(
  { output, bytes, contentType }: RunResult<unknown>,
  kind: MediaKind,
  given: ReadonlySet<string>,
): Media[] {
  if (output instanceof Blob) return [{ mediaType: contentType, bytes }];
  const found: { media: Media; isBeside: boolean }[] = [];
  const visit = (value: unknown, isBeside: boolean) => {
    if (typeof value === 'string') {
      const media = given.has(value) ? undefined : mediaIn(value, kind);
      if (media !== undefined) found.push({ media, isBeside });
    } else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) visit(member, isBeside || beside.test(name));
  };
  visit(output, false);
  const main = found.filter((each) => !each.isBeside);
  return (main.length > 0 ? main : found).map(({ media }) => media);
}

function mediaIn(text: string, kind: MediaKind): Media | undefined {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) {
    const [, extension = ''] = /\.([a-z0-9]+)$/i.exec(new URL(text).pathname) ?? [];
    const known = extensions[extension.toLowerCase()];
    return known === undefined || known.startsWith(`${kind}/`)
      ? { mediaType: known ?? defaults[kind], url: text }
      : undefined;
  }
  if (text.startsWith(`data:${kind}/`)) {
    const [head = '', encoded = ''] = text.split(',');
    const [mediaType = ''] = head.slice('data:'.length).split(';');
    return head.endsWith(';base64') ? { mediaType, bytes: fromBase64(encoded) } : undefined;
  }
  return base64.test(text) ? { mediaType: defaults[kind], bytes: fromBase64(text) } : undefined;
}

export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

interface Transcript {
  text: string;
  segments: { text: string; startSecond: number; endSecond: number }[];
  language: string | undefined;
  durationInSeconds: number | undefined;
}

/** The transcript in an output of OpenAI or ElevenLabs. Undefined if it has no text. */
export function transcriptOf(output: unknown): Transcript | undefined {
  const { text, segments, words, language_code, language, duration, audio_duration_secs } = (output ??
    {}) as Record<string, unknown>;
  if (typeof text !== 'string') return undefined;
  const parts = [segments, words].find((each) => Array.isArray(each) && each.length > 0) as
    { text?: string; word?: string; start?: number; end?: number }[] | undefined;
  const code = [language_code, language].find((each) => typeof each === 'string' && each.length <= 3);
  const seconds = [duration, audio_duration_secs].find((each) => typeof each === 'number');
  return {
    text,
    segments: (parts ?? []).map((each) => ({
      text: each.text ?? each.word ?? '',
      startSecond: Number(each.start),
      endSecond: Number(each.end),
    })),
    language: code as string | undefined,
    durationInSeconds: seconds,
  };
}
