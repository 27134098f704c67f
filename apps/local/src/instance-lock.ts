import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { identify, isAlive, type ProcessIdentity } from './processes.js';
import { StartFailure } from './start-failure.js';

/** Makes this process the only launcher on the folder; the answer lets go of it. */
export function acquireInstanceLock(file: string): () => void {
  for (;;) {
    try {
      writeFileSync(file, JSON.stringify(identify(process.pid)), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readHolder(file);
    if (holder && isAlive(holder)) throw new StartFailure(`Already running as pid ${holder.pid} on ${file}`);
    // The launcher that wrote it was killed.
    rmSync(file, { force: true });
  }
}

function readHolder(file: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}
