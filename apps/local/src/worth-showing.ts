/** Level numbers of the JSON log; 50 is an error. */
const errorLevel = 50;

/** The part of a log line that the terminal gets: errors, and what is no log line but was written to stderr. */
export function worthShowing(line: string, fromErrorStream: boolean): string | undefined {
  const record = parse(line);
  if (record === undefined) return fromErrorStream && line.trim() !== '' ? line : undefined;
  if (typeof record['level'] !== 'number' || record['level'] < errorLevel) return undefined;
  return typeof record['msg'] === 'string' ? record['msg'] : line;
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
