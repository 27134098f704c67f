import { essenceOf } from '#schemas';
import { fileTypeFromBuffer } from 'file-type';

/** What of a file has to be there to tell its type. */
export const headBytes = 4100;

interface ContentType {
  mediaType: string;
  /** With its dot; empty when it says nothing. */
  extension: string;
}

const unknown: ContentType = { mediaType: 'application/octet-stream', extension: '' };
/** Types that have no signature; a claim to one of them lets nothing run that would not run as what it is. */
const withoutSignature = /^(text\/[\w.+-]+|model\/[\w.+-]+|application\/json)$/;
const svg = /^\uFEFF?\s*(<\?xml[^>]*>\s*)?(<!--[^]*?-->\s*)*(<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/;

/** What a file is, by its first bytes. What the caller says counts only where no file of that type has a signature. */
export async function contentTypeOf(head: Buffer, announced = ''): Promise<ContentType> {
  if (svg.test(head.toString('latin1'))) return { mediaType: 'image/svg+xml', extension: '.svg' };
  const found = await fileTypeFromBuffer(head);
  if (found) return { mediaType: found.mime, extension: `.${found.ext}` };
  const claimed = essenceOf(announced);
  const mayBe = withoutSignature.test(claimed) && (claimed.startsWith('model/') || !head.includes(0));
  return mayBe ? { ...unknown, mediaType: claimed } : unknown;
}
