import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessRecords } from '../processes.js';
import { StartFailure } from '../start-failure.js';

export interface ServerSpec {
  name: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  /** Both streams of the server are appended to this file. */
  logPath: string;
  records: ProcessRecords;
  /** It takes connections when its log says so. Absent: nobody waits. */
  readyText?: RegExp;
  /** Asks for a quick, clean end (default SIGTERM). */
  stopSignal?: NodeJS.Signals;
  /** Absent: the account of the caller. */
  account?: { uid: number; gid: number } | undefined;
  /** Opened before the account changes, and handed over as descriptor 3. */
  folder?: string | undefined;
}

export interface ServerProcess {
  readonly name: string;
  readonly pid: number;
  readonly logPath: string;
  readonly running: boolean;
  /** Null while it runs, and after a signal. */
  readonly exitCode: number | null;
  /** Settles when the server has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** One line for people: that it ended, how, and where to read on. */
  readonly exitMessage: string;
  stop(): Promise<void>;
}

/** Recovery after a kill may take a while; a healthy start takes a fraction of a second. */
const readyWithinMs = 60_000;
const stopGraceMs = 8_000;

export async function startServer(spec: ServerSpec): Promise<ServerProcess> {
  const logged = existsSync(spec.logPath) ? statSync(spec.logPath).size : 0;
  const server = spawnServer(spec);
  const { readyText } = spec;
  if (!readyText) return server;
  const lastMs = Date.now() + readyWithinMs;
  while (!readyText.test(readFileSync(spec.logPath).toString('utf8', logged))) {
    if (!server.running || Date.now() > lastMs) {
      const problem = server.running ? 'takes no connections' : 'ended while it started';
      await server.stop();
      throw new StartFailure(`${spec.name} ${problem}: ${lastLines(spec.logPath, 3)} (log: ${spec.logPath})`);
    }
    await pause(20);
  }
  return server;
}

function spawnServer(spec: ServerSpec): ServerProcess {
  const { name, logPath, stopSignal = 'SIGTERM' } = spec;
  const opened = [openSync(logPath, 'a', 0o600)];
  if (spec.folder !== undefined)
    opened.push(openSync(spec.folder, constants.O_RDONLY | constants.O_DIRECTORY));
  try {
    const child = spawn(spec.command, spec.args, {
      ...spec.account,
      cwd: '/',
      env: spec.env,
      // A process group of its own: Ctrl-C must not reach it before the apps have ended.
      detached: true,
      stdio: ['ignore', ...opened.slice(0, 1), ...opened],
    });
    spec.records.track(child, name, stopSignal);
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve()).once('error', () => resolve());
    });
    return {
      name,
      pid: child.pid ?? 0,
      logPath,
      ended,
      get running() {
        return isRunningChild(child);
      },
      get exitCode() {
        return child.exitCode;
      },
      get exitMessage() {
        return `${name} ended (${describeExit(child)}) (log: ${logPath})`;
      },
      stop: () => stopChild(child, ended, stopSignal, stopGraceMs),
    };
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

export const isRunningChild = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

export const describeExit = (child: ChildProcess): string =>
  child.signalCode ?? `exit code ${child.exitCode ?? 'unknown'}`;

export async function stopChild(
  child: ChildProcess,
  ended: Promise<void>,
  signal: NodeJS.Signals,
  graceMs: number,
): Promise<void> {
  if (!isRunningChild(child)) return;
  child.kill(signal);
  // A frozen process takes no other signal before this one.
  child.kill('SIGCONT');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await ended;
  clearTimeout(timer);
}

/** The last lines of a log as one line; empty when there is none. */
export function lastLines(file: string, count: number): string {
  if (!existsSync(file)) return '';
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join(' | ');
}
