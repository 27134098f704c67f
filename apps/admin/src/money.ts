const microsPerCent = 10_000;

/** The most cents whose micro-dollars a number still holds exactly: nine billion dollars. */
export const mostCents = Math.floor(Number.MAX_SAFE_INTEGER / microsPerCent);

/** Whole US cents as micro-dollars. */
export const microsFromCents = (cents: number): number => cents * microsPerCent;

/** Micro-dollars as US cents, with up to four decimals: runs cost fractions of a cent. */
export const centsFromMicros = (micros: number): number => micros / microsPerCent;

/** US cents as text, at most four decimals; null is no limit. */
export const centsText = (micros: number | null): string =>
  micros === null ? 'unlimited' : String(centsFromMicros(micros));
