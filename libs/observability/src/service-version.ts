import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The version in the nearest package.json above this file, in the sources and in the build. */
export const serviceVersion = read(import.meta.dirname);

function read(folder: string): string {
  const file = path.join(folder, 'package.json');
  if (existsSync(file))
    return String((JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version);
  const parent = path.dirname(folder);
  return parent === folder ? 'unknown' : read(parent);
}
