import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';
import { StartFailure } from './start-failure.js';

/** The value that an earlier start wrote to this file, or undefined if the file does not exist. */
export function readJsonFile<S extends z.ZodType>(file: string, schema: S): z.infer<S> | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new StartFailure(`${file} is damaged. Repair or remove it.`, { cause });
  }
}

/** Writes a file that only its owner can read, under a temporary name until it is complete. */
export function writeJsonFile(file: string, value: object): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
