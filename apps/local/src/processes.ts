import { execFileSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StartFailure } from './start-failure.js';

/** A process for good: its id alone is given to another one some time after its end. */
interface ProcessIdentity {
  pid: number;
  startedAt: string | undefined;
}

interface ProcessRecord extends ProcessIdentity {
  name: string;
  stopSignal: NodeJS.Signals;
}

/** A process that has been asked to end is killed after this time. */
const graceMs = 8_000;

/**
 * The processes that were started from a folder, one file each. Servers survive when whoever started them is killed:
 * the next start on the folder ends what is still recorded there.
 */
export class ProcessRecords {
  constructor(private readonly folder: string) {
    mkdirSync(folder, { recursive: true });
  }

  /** Until it ends. In the same tick as the spawn, so that no kill comes between the two. */
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

  /** Ends what still runs, or those of these names; a process that was given the id of a recorded one meanwhile is left alone. */
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

/** Makes this process the only launcher on the folder; the answer lets go of it. */
export function acquireInstanceLock(file: string): () => void {
  const holder = readIdentity(file);
  if (holder && isAlive(holder)) throw new StartFailure(`Already running as pid ${holder.pid} on ${file}`);
  // The launcher that wrote it was killed.
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify(identify(process.pid)), { flag: 'wx' });
  return () => rmSync(file, { force: true });
}

/** The process that a file names; undefined when there is no such file, or only half of it was written. */
export function readIdentity(file: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

export const identify = (pid: number): ProcessIdentity => ({ pid, startedAt: startTimeOf(pid) });

/** False also where nothing tells when a process was started: it could be anybody's. */
export const isAlive = ({ pid, startedAt }: ProcessIdentity): boolean =>
  startedAt !== undefined && isRunning(pid) && startTimeOf(pid) === startedAt;

/** True for a living process; a zombie, which only waits to be reaped, counts as ended. */
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
      // A frozen process takes no other signal before this one.
      process.kill(record.pid, 'SIGCONT');
    } catch {
      // It ended between the look and the signal.
    }
    const lastMs = Date.now() + graceMs;
    while (isAlive(record) && Date.now() < lastMs) await pause(25);
  }
}

/** Undefined when the process is gone. */
function startTimeOf(pid: number): string | undefined {
  const fields = statFields(pid);
  if (!fields) return startTimeByPs(pid);
  // Field 22 of proc(5) counts clock ticks since the boot, so the boot belongs to it; the first two fields are cut off.
  return `${fields[19]} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`;
}

function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces; everything after the last one is regular.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Where there is no /proc, as on macOS. */
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
