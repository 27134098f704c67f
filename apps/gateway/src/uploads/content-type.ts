import { essenceOf } from '#schemas';
import { fileTypeFromBuffer } from 'file-type';

/** What of a file has to be there to tell its type. */
export const headBytes = 4100;

/** An extension has its dot; an empty one says nothing. */
const unknown = { mediaType: 'application/octet-stream', extension: '' };
/** Types that have no signature; a claim to one of them lets nothing run that would not run as what it is. */
const withoutSignature = /^(text\/[\w.+-]+|model\/[\w.+-]+|application\/json)$/;
/** The pieces that may stand before the root of an SVG file. */
const beforeSvg = /\s+|<!--[^]*?-->|<\?xml[^>]*>|<!DOCTYPE svg[^>]*>/y;

/**
 * The media type of a file, by its first bytes; more of them may be given. The caller's word counts only where no file
 * of that type has a signature.
 */
export async function contentTypeOf(start: Buffer, announced = '') {
  const head = start.subarray(0, headBytes);
  if (isSvg(head.toString())) return { mediaType: 'image/svg+xml', extension: '.svg' };
  const found = await fileTypeFromBuffer(head);
  if (found) return { mediaType: found.mime, extension: `.${found.ext}` };
  const claimed = essenceOf(announced);
  const mayBe = withoutSignature.test(claimed) && (claimed.startsWith('model/') || !head.includes(0));
  return mayBe ? { ...unknown, mediaType: claimed } : unknown;
}

/** Each piece is searched for once, from where the one before it ends: a file of many comments costs one pass. */
function isSvg(text: string): boolean {
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  for (beforeSvg.lastIndex = at; beforeSvg.test(text);) at = beforeSvg.lastIndex;
  return /^<svg[\s>]/.test(text.slice(at, at + 5));
}
