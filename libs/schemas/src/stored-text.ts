import type { z } from 'zod';

// Postgres stores neither a NUL nor half of a surrogate pair; other control characters break tables and logs.
const line = /^[^\p{Cc}\p{Cs}]*$/u;
const lines = /^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u;

/** Free text that the database can hold, or be asked for. */
export const oneLine = (text: z.ZodString) => text.regex(line, 'must not hold control characters');

/** Such a text that may hold tabs and line breaks as well. */
export const severalLines = (text: z.ZodString) => text.regex(lines, 'must not hold control characters');

export const isOneLine = (text: string): boolean => line.test(text);
