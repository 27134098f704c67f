import type { Schema } from '../../../../api/model-document.ts';
import { kindOfUrl } from '../../../../parts/media.ts';
import { fileKindOf, labelOf } from '../form-schema.ts';

/** The pixels that mark where the model may change the image. */
export type MaskMeaning = 'white' | 'black' | 'transparent';

export interface MaskTerms {
  /** Undefined if the description of the field doesn't say. */
  meaning: MaskMeaning | undefined;
}

const maxDepth = 5;

/** The terms of a field that takes a mask for an image, by its name and description. */
export function maskTermsOf(name: string, { description = '' }: Schema): MaskTerms | undefined {
  // A mask for a video can't be painted on one image.
  if (!/\bmask( image| img)?( url| uri)?$/i.test(labelOf(name)) || /video/i.test(description))
    return undefined;
  return { meaning: meaningIn(description) };
}

function meaningIn(description: string): MaskMeaning | undefined {
  for (const clause of description.toLowerCase().split(/[.,;:]/)) {
    const colour = /\b(white|black|transparent)\b/.exec(clause)?.[1];
    if (colour === undefined) continue;
    if (/\b(edit|remov|regenerat|chang|inpaint|replac|fill|eras|repaint)/.test(clause))
      return colour as MaskMeaning;
  }
  return undefined;
}

/** The first image in an input, apart from masks: the one that a mask is painted on. */
export function imageIn(input: unknown, name = '', depth = 0): string | undefined {
  if (depth > maxDepth || /mask/i.test(name)) return undefined;
  if (typeof input === 'string') return isImage(input, name) ? input : undefined;
  if (typeof input !== 'object' || input === null) return undefined;
  for (const [key, part] of Object.entries(input)) {
    const found = imageIn(part, Array.isArray(input) ? name : key, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isImage = (url: string, name: string): boolean =>
  /^data:image\//i.test(url) ||
  (/^https?:/i.test(url) &&
    (kindOfUrl(url) ?? fileKindOf(name, { type: 'string', format: 'uri' })) === 'image');
