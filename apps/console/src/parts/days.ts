export const dayMs = 86_400_000;

/** The UTC day of a time: `2026-03-01`. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
