import { existsSync } from 'node:fs';
import path from 'node:path';

/** The source folder, also for built code: replies and schemas are not copied to dist. */
export const simulatorFolder = path.join(findRoot(import.meta.dirname), 'apps/simulator');

function findRoot(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  if (path.dirname(folder) === folder) throw new Error('no package.json above this file');
  return findRoot(path.dirname(folder));
}
