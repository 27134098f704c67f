import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isRunning, startMark } from './embedded/processes.js';
import { StartFailure } from './embedded/start-failure.js';

interface Holder {
  pid: number;
  /** The start of that process, since its id may be somebody else's by now. */
  mark: string | undefined;
}

interface Instance {
  /** True when the one before was killed: its children may need a few seconds to end. */
  afterKill: boolean;
  release(): void;
}

/** Makes this process the only launcher on the folder; the file's content appears with its name. */
export async function becomeInstance(file: string): Promise<Instance> {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ pid: process.pid, mark: startMark(process.pid) } satisfies Holder));
  let afterKill = false;
  try {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      if (claim(draft, file)) return { afterKill, release: () => rmSync(file, { force: true }) };
      const found = readHolder(file);
      if (found === undefined) continue;
      if (isAlive(found)) throw new StartFailure(`Already running as pid ${found.pid} on ${file}`);
      afterKill = true;
      takeAway(file, found, `${draft}.stale`);
      await pause(10);
    }
    throw new StartFailure(`${file} changes hands all the time: are several launchers starting?`);
  } finally {
    rmSync(draft, { force: true });
  }
}

function claim(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Two launchers may find the same stale file: the slower one must not take away the faster one's claim. */
function takeAway(file: string, stale: Holder, aside: string): void {
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  if (moved !== undefined && (moved.pid !== stale.pid || moved.mark !== stale.mark)) claim(aside, file);
  rmSync(aside, { force: true });
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

const isAlive = ({ pid, mark }: Holder): boolean => isRunning(pid) && startMark(pid) === mark;
