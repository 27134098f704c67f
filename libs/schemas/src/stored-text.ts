import type { z } from 'zod';

// Postgres cannot store NUL or lone surrogates. Other control characters break tables and logs.
const line = /^[^\p{Cc}\p{Cs}]*$/u;
const lines = /^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u;

/** One line of text that the database can store or accept as a parameter. */
export const oneLine = (text: z.ZodString) =>
  text.regex(line, 'must not contain control characters'); /** The same with tabs and line breaks. */
export const severalLines = (text: z.ZodString) => text.regex(lines, 'must not contain control characters');

export const isOneLine = (text: string): boolean => line.test(text);

/** At most `maxLength` UTF-16 units of a text. A surrogate pair is never cut in half. */
export const cut = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');

/** The text, or its beginning followed by an ellipsis. */
export const shortened = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${cut(text, maxLength)}…`;
