import { RE2JS } from 're2js';

const maxPatternLength = 1000;
/** The engine's time is at most the length of the text times this; ten thousand letters stay within milliseconds. */
const largestProgram = 200;

/** Only the first match is needed; a trailing `.*` would read on to the end of a long text. */
const unasked = /(?<!\\)\.\*$/;

/**
 * The pattern as a matcher whose time grows with the length of the text only: patterns come from catalog rows
 * and meet callers' texts of any length. Throws for what needs backtracking, such as look-ahead.
 */
export const linearTime = (pattern: string): RE2JS =>
  RE2JS.compile(RE2JS.translateRegExp(pattern.replace(unasked, '')));

/** Why the pattern cannot be used, or nothing. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > maxPatternLength) return `a pattern has at most ${maxPatternLength} characters`;
  try {
    const size = linearTime(pattern).programSize();
    return size > largestProgram
      ? `a pattern has at most ${largestProgram} steps, with its repetitions written out; this one has ${size}`
      : undefined;
  } catch (error) {
    return `a pattern without a linear-time form: ${error instanceof Error ? error.message : String(error)}`;
  }
}
