import { essenceOf } from '#schemas';
import type { InputFile } from './contract.js';

/** Longer than any media type with its parameters. */
const maxHeadLength = 1000;
/** Ends at the first comma outside quotes. */
const head = /^data:((?:[^",]|"(?:[^"\\]|\\.)*")*),/i;
const base64Mark = /;[ \t]*base64[ \t]*$/i;

/** The file in a `data:` URL (RFC 2397). Undefined for any other text, and for a URL without data. */
export function inlineFile(text: string): InputFile | undefined {
  const [start, given] = head.exec(text.slice(0, maxHeadLength)) ?? [];
  const described = given === undefined ? undefined : unescaped(given);
  if (start === undefined || described === undefined) return undefined;
  const isBase64 = base64Mark.test(described);
  const mediaType = mediaTypeOf(described.replace(base64Mark, ''), isBase64);
  const data = text.slice(start.length);
  const content = isBase64 ? base64Bytes(unescaped(data) ?? '') : percentDecoded(data);
  if (mediaType === '' || content === undefined || content.length === 0) return undefined;
  return { mediaType, bytes: content.length, content };
}

/** Decodes base64 in either alphabet, with or without padding. Undefined for any other text. */
export function base64Bytes(text: string): Buffer | undefined {
  const compact = /\s/.test(text) ? text.replaceAll(/\s+/g, '') : text;
  const [, digits = ''] = /^([\w+/-]+)={0,2}$/.exec(compact) ?? [];
  // A final group of one digit does not encode a byte.
  return digits === '' || digits.length % 4 === 1 ? undefined : Buffer.from(digits, 'base64');
}

/** RFC 2397 treats data without a type as text, but base64 is rarely text. */
function mediaTypeOf(described: string, isBase64: boolean): string {
  if (/^\s*(;|$)/.test(described)) return isBase64 ? 'application/octet-stream' : 'text/plain';
  return essenceOf(described);
}

function unescaped(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A percent sign that does not start an escape is kept, as in browsers. */
function percentDecoded(text: string): Buffer {
  if (!text.includes('%')) return Buffer.from(text);
  const [first = '', ...parts] = text.split('%');
  const decoded = parts.map((part) =>
    /^[0-9a-f]{2}/i.test(part)
      ? [Buffer.from(part.slice(0, 2), 'hex'), Buffer.from(part.slice(2))]
      : [Buffer.from(`%${part}`)],
  );
  return Buffer.concat([Buffer.from(first), ...decoded.flat()]);
}
