import { RE2JS } from 're2js';

const maxPatternLength = 1000;
/**
 * The matching time is at most proportional to the length of the text times this. Ten thousand characters take
 * milliseconds.
 */
const largestProgram = 200;

/** A trailing `.*` changes nothing, but would read a long text to its end. */
const trailingWildcard = /(?<!\\)\.\*$/;

/**
 * Compiles a pattern for matching in linear time, because patterns of catalog rows are applied to callers' texts of
 * any length. Throws for patterns that need backtracking, such as look-ahead.
 */
export const linearTime = (pattern: string): RE2JS =>
  RE2JS.compile(RE2JS.translateRegExp(pattern.replace(trailingWildcard, '')));

/** Why the pattern cannot be used. Undefined if it can. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > maxPatternLength) return `a pattern must have at most ${maxPatternLength} characters`;
  try {
    const size = linearTime(pattern).programSize();
    return size > largestProgram
      ? `a pattern must have at most ${largestProgram} steps, with repetitions expanded; this one has ${size}`
      : undefined;
  } catch (error) {
    return `the pattern has no linear-time form: ${error instanceof Error ? error.message : String(error)}`;
  }
}
