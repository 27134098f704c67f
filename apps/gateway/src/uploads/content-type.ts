import { essenceOf } from '#schemas';
import { fileTypeFromBuffer } from 'file-type';

/** Number of bytes needed to recognise the type of a file. */
export const headBytes = 4100;

/** An extension includes its dot; an empty one is unknown. */
const unknownType = 'application/octet-stream';
/**
 * Types without a signature, for which the caller's word counts. None of them makes a browser run anything that it
 * would not run anyway.
 */
const withoutSignature = /^(text\/[\w.+-]+|model\/[\w.+-]+|application\/json)$/;
/** The text that may precede the root element of an SVG file. */
const beforeSvg = /\s+|<!--[^]*?-->|<\?xml[^>]*>|<!DOCTYPE svg[^>]*>/y;

/**
 * The media type of a file, from its first bytes; `start` may be longer. The caller's word counts only if files of
 * that type have no signature. The extension is the caller's if the content does not tell, because providers go by it.
 */
export async function contentTypeOf(start: Buffer, announced = '', fileName = '') {
  const head = start.subarray(0, headBytes);
  if (isSvg(head.toString())) return { mediaType: 'image/svg+xml', extension: '.svg' };
  const found = await fileTypeFromBuffer(head);
  if (found) return { mediaType: found.mime, extension: `.${found.ext}` };
  const claimed = essenceOf(announced);
  const mayBe = withoutSignature.test(claimed) && (claimed.startsWith('model/') || !head.includes(0));
  const [extension = ''] = /\.[a-z0-9]{1,10}$/.exec(fileName.toLowerCase()) ?? [];
  return { mediaType: mayBe ? claimed : unknownType, extension };
}

/** Searches each piece once, from the end of the previous one, so that a file of many comments costs one pass. */
function isSvg(text: string): boolean {
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  for (beforeSvg.lastIndex = at; beforeSvg.test(text);) at = beforeSvg.lastIndex;
  return /^<svg[\s>]/.test(text.slice(at, at + 5));
}
