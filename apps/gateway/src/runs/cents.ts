/** Micro-dollars have at most four decimals as cents. */
export const cents = (micros: number): number => micros / 10_000;
