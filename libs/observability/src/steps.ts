/**
 * The upper bounds of a histogram's buckets: 1, 2 and 5 times each power of ten, from `lower` to the first step that is at
 * least `upper`. A quantile that is read from them is wrong by a factor of 2.5 at most.
 *
 * @param lower the first step, such as 0.01 or 0.005
 * @param limits further bounds at which an objective counts
 */
export function steps(lower: number, upper: number, limits: readonly number[] = []): number[] {
  const found: number[] = [];
  // Parsed from text, because products of powers are not exact, and every digit is part of the label `le`.
  for (let power = Math.floor(Math.log10(lower)); (found.at(-1) ?? 0) < upper; power += 1)
    found.push(...[1, 2, 5].map((digit) => Number(`${digit}e${power}`)).filter((step) => step >= lower));
  const last = found.findIndex((step) => step >= upper);
  return [...found.slice(0, last + 1), ...limits].sort((one, other) => one - other);
}
