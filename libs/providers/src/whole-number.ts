// A handle stands near the top of a small reply; the bound keeps a hostile one from holding the event loop.
const longestSearched = 16_384;
const integers = /"((?:[^"\\]|\\.)*)"\s*:\s*(-?\d+)(?![\d.eE])/g;

/**
 * The digits of a number as the partner wrote them. Beyond 2^53 the parsed value would name another job, so the
 * text is searched for the member `key` that parses to `value`.
 */
export function digitsOf(value: number, key: string, text: string): string {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return String(value);
  for (const [, name, digits] of text.slice(0, longestSearched).matchAll(integers)) {
    if (name === key && Number(digits) === value) return digits ?? '';
  }
  return String(value);
}
