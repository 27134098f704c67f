import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessRecords } from '../processes.js';
import { StartFailure } from '../start-failure.js';

export interface ServerSpec {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** The server's output and errors are appended to this file. */
  logPath: string;
  records: ProcessRecords;
  /** The server is ready once its log of this run matches. */
  readyText?: RegExp;
  /** The server is ready once this resolves with true. */
  isReady?: () => Promise<boolean>;
  /** Makes the server exit quickly and cleanly (default SIGTERM). */
  stopSignal?: NodeJS.Signals;
  /** The caller's account if absent. */
  account?: { uid: number; gid: number } | undefined;
  /** Opened before the account changes, and passed as descriptor 3. */
  folder?: string | undefined;
  /** Opens an IPC channel. When it closes, the process knows that its parent has exited. */
  channel?: boolean;
}

export interface ServerProcess {
  readonly name: string;
  readonly pid: number;
  readonly logPath: string;
  readonly running: boolean;
  /** Null while it runs, and if a signal ended it. */
  readonly exitCode: number | null;
  /** Resolves when the server has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** One line for the user: how the server ended, its last log lines, and the path of its log. */
  readonly exitMessage: string;
  /** The part of the log that was written in this run. */
  log(): string;
  stop(): Promise<void>;
}

/** Recovery after a kill may take a while; a healthy start takes a fraction of a second. */
const readyWithinMs = 60_000;
const stopGraceMs = 8_000;

/** Starts a process and waits until it is ready, if the spec defines that. */
export async function startServer(spec: ServerSpec): Promise<ServerProcess> {
  const server = spawnServer(spec);
  const { readyText, isReady = async () => readyText === undefined || readyText.test(server.log()) } = spec;
  const lastMs = Date.now() + readyWithinMs;
  while (!(await isReady().catch(() => false))) {
    if (!server.running) throw new StartFailure(server.exitMessage);
    if (Date.now() > lastMs) {
      await server.stop();
      throw new StartFailure(`${spec.name} was not ready after a minute (log: ${spec.logPath})`);
    }
    await pause(20);
  }
  return server;
}

function spawnServer(spec: ServerSpec): ServerProcess {
  const { name, logPath, stopSignal = 'SIGTERM' } = spec;
  const loggedBefore = existsSync(logPath) ? statSync(logPath).size : 0;
  const opened = [openSync(logPath, 'a', 0o600)];
  if (spec.folder !== undefined)
    opened.push(openSync(spec.folder, constants.O_RDONLY | constants.O_DIRECTORY));
  try {
    const child = spawn(spec.command, spec.args, {
      // The account may not be able to enter the caller's folder.
      ...(spec.account && { ...spec.account, cwd: '/' }),
      env: spec.env,
      // In its own process group, so that Ctrl-C reaches only the launcher, which stops the rest in order.
      detached: true,
      stdio: ['ignore', ...opened.slice(0, 1), ...opened, ...(spec.channel ? (['ipc'] as const) : [])],
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
        const how = child.signalCode ?? `exit code ${child.exitCode ?? 'unknown'}`;
        return `${name} ended (${how}): ${lastLines(logPath, 3) || 'no output'} (log: ${logPath})`;
      },
      log: () => readFileSync(logPath).toString('utf8', loggedBefore),
      stop: async () => {
        if (!isRunningChild(child)) return;
        child.kill(stopSignal);
        // A stopped process handles no other signal until it continues.
        child.kill('SIGCONT');
        const timer = setTimeout(() => child.kill('SIGKILL'), stopGraceMs);
        await ended;
        clearTimeout(timer);
      },
    };
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

const isRunningChild = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** The last lines of a log, joined into one line. Empty if there is no log. */
function lastLines(file: string, count: number): string {
  if (!existsSync(file)) return '';
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join(' | ');
}
