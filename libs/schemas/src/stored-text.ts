import type { z } from 'zod';

// Postgres stores neither a NUL nor half of a surrogate pair; other control characters break tables and logs.
const line = /^[^\p{Cc}\p{Cs}]*$/u;
const lines = /^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u;

/** Free text that the database can hold, or be asked for. */
export const oneLine = (text: z.ZodString) => text.regex(line, 'must not hold control characters');

/** Such a text that may hold tabs and line breaks as well. */
export const severalLines = (text: z.ZodString) => text.regex(lines, 'must not hold control characters');

export const isOneLine = (text: string): boolean => line.test(text);

/** At most so many UTF-16 units of a text. A character that does not fit whole is left out, so no half of it remains. */
export const cut = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');

/** The text, or its beginning with an ellipsis behind it. */
export const shortened = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${cut(text, maxLength)}…`;
