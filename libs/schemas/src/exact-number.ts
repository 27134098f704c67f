/**
 * Whether a parsed value serializes to the same numbers again. A double holds integers exactly only up to 2^53, and
 * JSON cannot represent infinity.
 */
export function isExact(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact);
}

/** Matches a string or a number in JSON text. */
const tokens = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*/g;

/** Replaces each number that a double would change by an infinite one, which `isExact` rejects. */
export const markInexact = (json: string): string =>
  json.replaceAll(tokens, (token) => (token.startsWith('"') || isKept(token) ? token : '1e999'));

const isKept = (number: string): boolean => valueOf(number) === valueOf(String(Number(number)));

/** A normal form: equal for equal numbers, however they are written. Undefined if the text is not a JSON number. */
function valueOf(number: string): string | undefined {
  const [, whole, fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  if (whole === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return end === 0 ? '0' : `${digits.slice(0, end)}e${Number(power) - fraction.length + digits.length - end}`;
}
