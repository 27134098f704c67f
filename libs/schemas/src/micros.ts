/**
 * An amount in whole micro-dollars, rounded up. Binary fractions are off in the sixteenth digit (0.1 * 3): twelve digits
 * keep that from becoming a micro-dollar.
 */
export const wholeMicros = (micros: number): number =>
  Math.min(Math.ceil(Number(micros.toPrecision(12))), Number.MAX_SAFE_INTEGER);

/**
 * A part of what a reply says a run cost: the number at a pointer (`*` adds up, `only` keeps the objects that hold these
 * values, `minus` is taken off, `when` adds nothing out of its range) or in a header, or how many elements a list has,
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
