import { openSync, readFileSync } from 'node:fs';
import { v7 } from 'uuid';
import path from 'node:path';
import { runFolder } from './running.js';

/** A file of the run that receives both output streams of a process. */
interface LogFile {
  path: string;
  /** Everything written so far. */
  read: () => string;
}

export function logFileAt(file: string): LogFile {
  return { path: file, read: () => readFileSync(file, 'utf8') };
}

/**
 * Returns the file and a descriptor for the `stdio` of the process; the caller closes the descriptor after the
 * spawn.
 */
export function openLogFile(name: string): { file: LogFile; descriptor: number } {
  const file = path.join(runFolder(), `${name}-${v7()}.log`);
  return { file: logFileAt(file), descriptor: openSync(file, 'a', 0o600) };
}
