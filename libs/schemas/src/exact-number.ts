/**
 * Whether a parsed value can be written again with the numbers that it was read from. A double holds integers exactly
 * only up to 2^53, and JSON cannot write infinity.
 */
export function isExact(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact);
}
