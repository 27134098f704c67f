import { existsSync } from 'node:fs';
import path from 'node:path';

/** Of the sources, also for what was built from them: replies and schemas are not built. */
export const simulatorFolder = path.join(findRoot(import.meta.dirname), 'apps/simulator');

function findRoot(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  if (path.dirname(folder) === folder) throw new Error('no package.json above this file');
  return findRoot(path.dirname(folder));
}
