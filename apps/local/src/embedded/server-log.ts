import { existsSync, readFileSync } from 'node:fs';

/** The last lines of a log as one line; empty when there is none. */
export function lastLines(file: string, count: number): string {
  if (!existsSync(file)) return '';
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join(' | ');
}
