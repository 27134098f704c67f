const microsPerCent = 10_000;

/** The largest number of cents whose micro-dollars are an exact number: nine billion dollars. */
export const maxCents = Math.floor(Number.MAX_SAFE_INTEGER / microsPerCent);

/** Whole US cents as micro-dollars. */
export const microsFromCents = (cents: number): number => cents * microsPerCent;

/** Micro-dollars as US cents, with up to four decimals, because runs may cost fractions of a cent. */
export const centsFromMicros = (micros: number): number => micros / microsPerCent;

/** Micro-dollars as text in US cents, with up to four decimals. Null is unlimited. */
export const centsText = (micros: number | null): string =>
  micros === null ? 'unlimited' : String(centsFromMicros(micros));

/**
 * Rounds an amount up to whole micro-dollars. Binary fractions have an error in the sixteenth digit (0.1 * 3), so
 * the amount is first rounded to twelve digits.
 */
export const wholeMicros = (micros: number): number =>
  Number.isSafeInteger(micros)
    ? micros
    : Math.min(Math.ceil(Number(micros.toPrecision(12))), Number.MAX_SAFE_INTEGER);

/**
 * One term of the cost in a provider's reply, times `micros`: the number at a pointer, the number in a header, or
 * the number of values at a place, where each element of a list and each different text counts once, but at most `most`. At a pointer, `*` adds up several numbers, `only` selects objects with these values,
 * `minus` subtracts another number (with `*`, only of the selected objects), and `when` makes the term zero outside
 * a range of a number, or of its sum with those at `plus`. If an `optional` number is missing, the term is zero.
 */
export type ReportedTerm = (
  | {
      at: string;
      only?: Record<string, unknown>;
      minus?: string;
      when?: { at: string; plus?: string[]; above?: number; up_to?: number };
    }
  | { header: string }
  | { count: string; only?: Record<string, unknown>; most?: number }
) & {
  optional?: boolean;
  /** Micro-dollars per unit, already multiplied by the factors of the caller's input. May be a fraction. */
  micros: number;
};
