/**
 * Whether a parsed value can be written again with the numbers that it was read from. A double holds integers exactly
 * only up to 2^53, and JSON cannot write infinity.
 */
export function isExact(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact);
}

/** A string or a number of a JSON text. */
const tokens = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*/g;

/** The JSON text with an infinite number, which `isExact` refuses, in the place of each that a double would change. */
export const markInexact = (json: string): string =>
  json.replaceAll(tokens, (token) => (token.startsWith('"') || isKept(token) ? token : '1e999'));

const isKept = (number: string): boolean => valueOf(number) === valueOf(String(Number(number)));

/** Equal for the same value, however it is written; undefined for what is no number of JSON. */
function valueOf(number: string): string | undefined {
  const [, whole, fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  if (whole === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return end === 0 ? '0' : `${digits.slice(0, end)}e${Number(power) - fraction.length + digits.length - end}`;
}
