import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Documents } from './intake/intake.js';

const largestBytes = 4 * 1024 * 1024;

/** The JSON documents of a catalog directory, mostly a partner's own, for rows to refer to; each is read once. */
export function documentsIn(directory: string): Documents {
  const known = new Map<string, unknown>();
  return (file) => {
    // Never out of the directory: a row is written by whoever may write rows, not by whoever may read files.
    if (!/^[^./\\][^/\\]*\.json$/.test(file)) throw new Error('a document is a .json file beside the row');
    if (!known.has(file)) known.set(file, JSON.parse(smallText(join(directory, file), largestBytes)));
    return known.get(file);
  };
}

/** The text of a file of at most so many bytes. */
export function smallText(file: string, mostBytes: number): string {
  const { size } = statSync(file);
  if (size > mostBytes) throw new Error(`larger than ${mostBytes} bytes`);
  return readFileSync(file, 'utf8');
}
