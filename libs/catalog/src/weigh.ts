/**
 * Whether the parsed value weighs at most `limit`: one for each value in it, plus `letter` for each letter of
 * a string. Stops as soon as it does not, so that a huge value costs no more than the limit.
 */
export function weighsAtMost(value: unknown, limit: number, letter: number): boolean {
  let weight = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    weight += 1 + (typeof next === 'string' ? next.length * letter : 0);
    if (weight + open.length > limit) return false;
    if (Array.isArray(next)) {
      if (next.length > limit) return false;
      open.push(...(next as unknown[]));
    } else if (typeof next === 'object' && next !== null) {
      for (const key in next) {
        weight += key.length * letter;
        if (open.length > limit) return false;
        open.push((next as Record<string, unknown>)[key]);
      }
    }
  }
  return true;
}
