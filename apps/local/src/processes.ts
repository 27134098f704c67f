import { execFileSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StartFailure } from './start-failure.js';

/** Identifies a process uniquely. Its id alone does not, because ids are reused. */
interface ProcessIdentity {
  pid: number;
  startedAt: string | undefined;
}

interface ProcessRecord extends ProcessIdentity {
  name: string;
  stopSignal: NodeJS.Signals;
}

/** A process that does not end within this time is killed. */
const graceMs = 8_000;

/**
 * Records the processes started from a folder, in one file each. Servers survive if the launcher is killed;
 * the next start on the folder ends the processes that are still recorded there.
 */
export class ProcessRecords {
  constructor(private readonly folder: string) {
    mkdirSync(folder, { recursive: true });
  }

  /** Records the process until it ends. Call it in the tick of the spawn, so that no kill comes between. */
  track(child: ChildProcess, name: string, stopSignal: NodeJS.Signals = 'SIGTERM'): void {
    const { pid } = child;
    if (pid === undefined) return;
    writeFileSync(this.fileOf(pid), JSON.stringify({ ...identify(pid), name, stopSignal }));
    child.once('exit', () => rmSync(this.fileOf(pid), { force: true }));
  }

  list(): ProcessRecord[] {
    return readdirSync(this.folder)
      .map((name) => readIdentity(path.join(this.folder, name)) as ProcessRecord | undefined)
      .filter((record) => record !== undefined);
  }

  /** Ends all recorded processes, or those with these names, but none that merely reuses a recorded id. */
  async endAll(names?: readonly string[]): Promise<void> {
    const ending = this.list().filter(({ name }) => names?.includes(name) ?? true);
    await Promise.all(
      ending.map(async (record) => {
        await end(record);
        rmSync(this.fileOf(record.pid), { force: true });
      }),
    );
  }

  private fileOf(pid: number): string {
    return path.join(this.folder, String(pid));
  }
}

/** Makes this process the only launcher on the folder. Returns the function that releases the lock. */
export function acquireInstanceLock(file: string): () => void {
  const holder = readIdentity(file);
  if (holder && isAlive(holder)) throw new StartFailure(`Already running as pid ${holder.pid} on ${file}`);
  // The launcher that wrote the file was killed.
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify(identify(process.pid)), { flag: 'wx' });
  return () => rmSync(file, { force: true });
}

/** The process that a file names, or undefined if the file is missing or was only half written. */
export function readIdentity(file: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

export const identify = (pid: number): ProcessIdentity => ({ pid, startedAt: startTimeOf(pid) });

/** Also false if the start time of the process is unknown, because its id may have been reused. */
export const isAlive = ({ pid, startedAt }: ProcessIdentity): boolean =>
  startedAt !== undefined && isRunning(pid) && startTimeOf(pid) === startedAt;

/** True for a live process. A zombie, which only waits to be reaped, counts as ended. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return statFields(pid)?.[0] !== 'Z';
}

async function end(record: ProcessRecord): Promise<void> {
  for (const signal of [record.stopSignal, 'SIGKILL'] as const) {
    if (!isAlive(record)) return;
    try {
      process.kill(record.pid, signal);
      // A stopped process handles no other signal until it continues.
      process.kill(record.pid, 'SIGCONT');
    } catch {
      // It ended between the check and the signal.
    }
    const lastMs = Date.now() + graceMs;
    while (isAlive(record) && Date.now() < lastMs) await pause(25);
  }
}

/** Undefined if the process has ended. */
function startTimeOf(pid: number): string | undefined {
  const fields = statFields(pid);
  if (!fields) return startTimeByPs(pid);
  // Field 22 of proc(5) counts clock ticks since boot, so the boot id is added. The first two fields are cut
  // off.
  return `${fields[19]} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`;
}

function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain spaces. The fields after the last parenthesis are regular.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** For systems without /proc, such as macOS. */
function startTimeByPs(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 2_000,
    }).trim();
  } catch {
    return undefined;
  }
}
