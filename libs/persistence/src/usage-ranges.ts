const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** From `from` and before `until`, in milliseconds since 1970, or infinite. */
export type Span = readonly [from: number, until: number];

/** The parts of a time range, by where their usage is read. Together they cover each moment of the range once. */
export interface UsageParts {
  /** Whole days that are added up. */
  day: Span[];
  /** Whole hours that are added up, outside those days. */
  hour: Span[];
  /** The rest, read from the audit records: the ends of the range, and what is not added up yet. */
  record: Span[];
}

/** Divides a time range. Hours are added up until `addedUntil`, the end of an hour. */
export function usageParts([from, until]: Span, addedUntil: number): UsageParts {
  const hours: Span = [ceilTo(hourMs, from), floorTo(hourMs, Math.min(until, addedUntil))];
  if (isEmpty(hours)) return { day: [], hour: [], record: nonEmpty([[from, until]]) };
  const [firstHour, lastHour] = hours;
  const days: Span = [ceilTo(dayMs, firstHour), floorTo(dayMs, lastHour)];
  return {
    day: nonEmpty([days]),
    hour: isEmpty(days)
      ? [hours]
      : nonEmpty([
          [firstHour, days[0]],
          [days[1], lastHour],
        ]),
    record: nonEmpty([
      [from, firstHour],
      [lastHour, until],
    ]),
  };
}

const isEmpty = ([from, until]: Span): boolean => from >= until;
const nonEmpty = (spans: Span[]): Span[] => spans.filter((span) => !isEmpty(span));
const floorTo = (unitMs: number, ms: number): number => Math.floor(ms / unitMs) * unitMs;
const ceilTo = (unitMs: number, ms: number): number => Math.ceil(ms / unitMs) * unitMs;
