const microsPerCent = 10_000;

/** The most cents whose micro-dollars a number still holds exactly: nine billion dollars. */
export const maxCents = Math.floor(Number.MAX_SAFE_INTEGER / microsPerCent);

/** Whole US cents as micro-dollars. */
export const microsFromCents = (cents: number): number => cents * microsPerCent;

/** Micro-dollars as US cents, with up to four decimals: runs cost fractions of a cent. */
export const centsFromMicros = (micros: number): number => micros / microsPerCent;

/** US cents as text, at most four decimals; null is no limit. */
export const centsText = (micros: number | null): string =>
  micros === null ? 'unlimited' : String(centsFromMicros(micros));

/**
 * An amount in whole micro-dollars, rounded up. Binary fractions are off in the sixteenth digit (0.1 * 3): twelve digits
 * keep that from becoming a micro-dollar.
 */
export const wholeMicros = (micros: number): number =>
  Number.isSafeInteger(micros)
    ? micros
    : Math.min(Math.ceil(Number(micros.toPrecision(12))), Number.MAX_SAFE_INTEGER);

/**
 * A part of what a reply says a run cost: the number at a pointer (`*` adds up, `only` keeps the objects that hold these
 * values, `minus` is taken off, with `*` of such objects alone, `when` adds nothing out of its range) or in a header, or how many elements a list has,
 * each times `micros`. Without an `optional` one the sum stands.
 */
export type ReportedTerm = (
  | {
      at: string;
      only?: Record<string, unknown>;
      minus?: string;
      when?: { at: string; above?: number; up_to?: number };
    }
  | { header: string }
  | { count: string }
) & {
  optional?: boolean;
  /** Micro-dollars a unit, the factors of the caller's input included; may be a fraction. */
  micros: number;
};
