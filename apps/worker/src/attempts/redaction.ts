import { longStringsOf, stringAt } from '#schemas';

const redacted = '[redacted]';

/** A scheme and a host, also in JSON that escapes slashes, then the rest of the URL. Only the host is shown. */
const url =
  /\b([a-z][a-z0-9+.-]{1,15}:(?:\\?\/){2})(?:[^\s"'<>\\/?#@]{0,300}@)?([^\s"'<>\\/?#@]{1,255})(?:\\u[0-9a-f]{4}|\\\/|[^\s"'<>\\])*/gi;

const secretMember =
  /((?:authorization|api[-_ ]?key|access[-_ ]?key(?:[-_ ]?id)?|secret(?:[-_ ]?key)?|client[-_ ]?secret|password|credential|signature|cookie|(?<![a-z])token|_token|-token)(?:\\?["'])?\s{0,8}[:=]\s{0,8})(\\?["'])?(?:(?:bearer|basic|key|token)\s+)?[^\s"'\\,;}<>]{3,}/gi;

const patterns: readonly [RegExp, string | ((match: string, ...groups: string[]) => string)][] = [
  // URLs may open what they name: their queries are often signed, and some paths are as good as a key.
  [
    url,
    (all, scheme, host) =>
      `${scheme}${host}${/^[^/]*\/\/[^/]*\/?$/.test(all.replaceAll('\\', '')) ? '' : '/…'}`,
  ],
  [/\bdata:[a-z0-9.+-]{1,40}\/[a-z0-9.+-]{1,60}[;,][^\s"'<>\\]*/gi, 'data:…'],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${redacted}`],
  [secretMember, `$1$2${redacted}`],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g, redacted],
  [/\b(?:sk|pk|rk|r8|xai|hf|fal|gsk|key)[-_][\w-]{16,}/gi, redacted],
  [/\b(?:AIza[\w-]{30,}|AKIA[0-9A-Z]{16})\b/g, redacted],
  // A file in base64, or anything else that nobody reads.
  [/(?:[\w+/=-]|\\\/){200,}/g, (all) => `[${all.length} characters]`],
];

const maxReplyBytes = 2 * 1024;

/** Redacts a reply for operators. Without an input to compare with, every long string may quote it. */
export function redactedReply(reply: string, input: Uint8Array | undefined): string {
  const open = withoutSecrets(reply);
  if (reply.length <= maxEchoed) return open;
  return beginningOf(input ? withoutEchoes(open, input) : withoutLongStrings(open));
}

/** The first 2 KiB, without a character that does not fit. */
const beginningOf = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, maxReplyBytes), { stream: true });

/**
 * Removes what looks like a credential of others, such as those in a caller's input, and everything but the host of URLs.
 * The secrets that a call carried are not in its reply.
 */
export function withoutSecrets(text: string): string {
  return patterns.reduce((rest, [pattern, by]) => rest.replaceAll(pattern, by as string), text);
}

/** Maximum number of characters that the input may contribute to a shown text, in all. */
export const maxEchoed = 200;
/** A part of the input is found in a text if it is at least twice as long. */
const gramSize = 16;
/** Occurrences of the same characters that are compared. */
const maxPlaces = 64;

/**
 * Removes what the caller's input contributed to a text, beyond 200 characters in all: a reply may quote a prompt as it
 * is, cut or escaped. `input` is JSON.
 */
export function withoutEchoes(text: string, input: Uint8Array): string {
  const folded = asciiLower(text);
  const echoed = new Uint8Array(text.length);
  const places = placesOfGrams(folded);
  for (const part of stringsOf(input))
    for (const spelling of new Set([part, jsonSpelling(part), asciiSpelling(part)]))
      markEchoes(folded, places, asciiLower(spelling), echoed);
  return without(text, echoed);
}

/** For a text whose run has too large an input to compare: shortens every string, or a text that is not JSON as a whole. */
export function withoutLongStrings(text: string): string {
  return /^\s*[[{]/.test(text)
    ? text.replaceAll(/"(?:[^"\\]|\\.)*/g, (part) => cutTo(part, maxEchoed / 2))
    : cutTo(text, maxEchoed);
}

const cutTo = (part: string, max: number): string =>
  part.length <= max ? part : `${part.slice(0, max)}[${part.length - max} more characters]`;

function placesOfGrams(text: string): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (let at = 0; at + gramSize <= text.length; at += 1) {
    const gram = text.slice(at, at + gramSize);
    const found = places.get(gram);
    if (found === undefined) places.set(gram, [at]);
    else if (found.length < maxPlaces) found.push(at);
  }
  return places;
}

function markEchoes(text: string, places: Map<string, number[]>, part: string, echoed: Uint8Array): void {
  for (let from = 0; from + gramSize <= part.length; from += gramSize) {
    for (const at of places.get(part.slice(from, from + gramSize)) ?? []) {
      if (echoed[at] && echoed[at + gramSize - 1]) continue;
      let before = 0;
      while (before < at && before < from && text[at - before - 1] === part[from - before - 1]) before += 1;
      let after = gramSize;
      while (at + after < text.length && text[at + after] === part[from + after]) after += 1;
      echoed.fill(1, at - before, at + after);
    }
  }
}

function without(text: string, echoed: Uint8Array): string {
  let shown = '';
  let left = maxEchoed;
  for (let from = 0; from < text.length;) {
    const isEcho = echoed[from] === 1;
    let to = from + 1;
    while (to < text.length && (echoed[to] === 1) === isEcho) to += 1;
    const part = text.slice(from, to);
    const kept = isEcho ? part.slice(0, left) : part;
    shown +=
      kept.length < part.length ? `${kept}[${part.length - kept.length} characters of the input]` : kept;
    if (isEcho) left -= kept.length;
    from = to;
  }
  return shown;
}

const stringsOf = (input: Uint8Array): string[] =>
  longStringsOf(input, gramSize).map((place) => stringAt(input, place));

const asciiLower = (text: string): string => text.replaceAll(/[A-Z]+/g, (part) => part.toLowerCase());

const jsonSpelling = (text: string): string => JSON.stringify(text).slice(1, -1);

/** JSON as Python writes it. */
const asciiSpelling = (text: string): string =>
  jsonSpelling(text).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
