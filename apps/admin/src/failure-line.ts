import { BadSettings } from '#schemas';

/** Formats a failure as one line, without a stack trace. */
export function failureLine(error: unknown): string {
  return `error: ${textOf(error).replaceAll(/\s+/g, ' ').trim()}`;
}

function textOf(error: unknown): string {
  if (error instanceof BadSettings) return `invalid settings: ${error.problems.join('; ')}`;
  // A failed connection to a name with several addresses has one error per address and no message.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(textOf).join('; ');
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}
