import { BadSettings } from '#schemas';

/** The failure as one line without a stack. */
export function failureLine(error: unknown): string {
  return `error: ${textOf(error).replaceAll(/\s+/g, ' ').trim()}`;
}

function textOf(error: unknown): string {
  if (error instanceof BadSettings) return `the environment is not usable: ${error.problems.join('; ')}`;
  // A refused connection to a name with several addresses has one error an address and no text of its own.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(textOf).join('; ');
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}
