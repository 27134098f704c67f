import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** A guard that lost its owner needs at most this long for its servers. */
const guardPatienceMs = 5_000;

/** True for a living process; a zombie, which only waits to be reaped, counts as ended. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return statFields(pid)?.[0] !== 'Z';
}

/** Tells two processes with the same reused id apart; undefined when the process is gone. */
export function startMark(pid: number): string | undefined {
  const fields = statFields(pid);
  // Field 22 of proc(5): the start in clock ticks since boot; the first two fields are cut off.
  if (fields) return fields[19];
  return processStatus(pid, 'lstart=');
}

/** The command line, and on Linux the working folder too, as one text to look into. */
function describeProcess(pid: number): string {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return `${command} ${readlinkSync(`/proc/${pid}/cwd`)}`;
  } catch {
    return processStatus(pid, 'command=') ?? '';
  }
}

/**
 * A server that outlived a killed launcher holds its data folder. A guard that still stands above it is
 * given the time to end it. Only a process that `looksRight` is touched, since ids are reused.
 */
export async function endOrphan(
  pid: number,
  looksRight: (description: string) => boolean,
  signal: NodeJS.Signals,
): Promise<void> {
  const there = () => isRunning(pid) && looksRight(describeProcess(pid));
  const plan: [NodeJS.Signals | null, number][] = [
    [null, hasGuard(pid) ? guardPatienceMs : 0],
    [signal, 5_000],
    ['SIGKILL', 2_000],
  ];
  for (const [step, waitMs] of plan) {
    if (!there()) return;
    if (step !== null) process.kill(pid, step);
    const lastMs = Date.now() + waitMs;
    while (there() && Date.now() < lastMs) await pause(25);
  }
}

function hasGuard(pid: number): boolean {
  const parent = Number(statFields(pid)?.[1] ?? processStatus(pid, 'ppid='));
  return parent > 1 && / guard\b/.test(describeProcess(parent));
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

function processStatus(pid: number, column: string): string | undefined {
  try {
    return execFileSync('ps', ['-o', column, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 2_000,
    }).trim();
  } catch {
    return undefined;
  }
}
