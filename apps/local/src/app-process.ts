import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, existsSync, renameSync } from 'node:fs';
import readline from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { appMain } from './checkout.js';
import type { ProcessRecords } from './processes.js';
import { describeExit, isRunningChild, lastLines, stopChild } from './servers/server-process.js';
import { StartFailure } from './start-failure.js';

const readyWithinMs = 60_000;
/** An app that does not end in this time after SIGTERM is killed. */
const stopGraceMs = 4_000;

interface AppOptions {
  name: string;
  env: NodeJS.ProcessEnv;
  logPath: string;
  records: ProcessRecords;
  /** Gets the errors of its log, one line each. */
  showError: (line: string) => void;
}

/** One of the apps as a child process: its log in a file, its errors shown as well. */
export class AppProcess {
  private readonly child: ChildProcess;
  private lastLine = '';
  /** Settles when it has ended, for whatever reason. */
  readonly ended: Promise<void>;

  constructor(private readonly options: AppOptions) {
    const { name, env, logPath, records } = options;
    if (existsSync(logPath)) renameSync(logPath, `${logPath}.1`);
    // A process group of its own: Ctrl-C reaches the launcher alone, which stops the apps in order. The
    // channel tells the app when the launcher is gone.
    this.child = spawn(process.execPath, ['--enable-source-maps', appMain(name)], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    records.track(this.child, name);
    this.ended = new Promise((resolve) => {
      this.child.once('exit', () => resolve());
      // It could not be started at all.
      this.child.once('error', () => resolve());
    });
    this.keepLog();
  }

  /** One line for people: that it ended, how, and where to read on. */
  get exitMessage(): string {
    const { name, logPath } = this.options;
    const lastWords = this.lastLine || lastLines(logPath, 1) || 'it said nothing';
    return `${name} ended (${describeExit(this.child)}): ${lastWords} (log: ${logPath})`;
  }

  /** Asks `isReady` until it is true; throws when the app ends before, or takes too long. */
  async untilReady(isReady: () => Promise<boolean>): Promise<void> {
    const lastMs = Date.now() + readyWithinMs;
    while (Date.now() < lastMs) {
      if (!isRunningChild(this.child)) throw new StartFailure(this.exitMessage);
      if (await isReady().catch(() => false)) return;
      await pause(25);
    }
    const { name, logPath } = this.options;
    throw new StartFailure(`${name} is not ready after a minute (log: ${logPath})`);
  }

  stop(): Promise<void> {
    return stopChild(this.child, this.ended, 'SIGTERM', stopGraceMs);
  }

  /** Output lines that a caller waits for, such as the simulator's addresses. */
  onLine(listener: (line: string) => void): void {
    if (this.child.stdout) readline.createInterface(this.child.stdout).on('line', listener);
  }

  private keepLog(): void {
    const log = createWriteStream(this.options.logPath, { mode: 0o600 });
    // A full disk must not take the service down with it.
    log.on('error', () => {});
    for (const stream of [this.child.stdout, this.child.stderr]) {
      if (!stream) continue;
      readline.createInterface(stream).on('line', (line) => {
        log.write(`${line}\n`);
        this.lastLine = line;
        const error = errorIn(line, stream === this.child.stderr);
        if (error !== undefined) this.options.showError(`${this.options.name}: ${error}`);
      });
    }
    this.child.once('close', () => log.end());
  }
}

/** Level numbers of the JSON log; 50 is an error. */
const errorLevel = 50;

/** The part of a log line that the terminal gets: errors, and what is no log line but was written to stderr. */
export function errorIn(line: string, fromErrorStream: boolean): string | undefined {
  const record = parse(line);
  if (record === undefined) return fromErrorStream && line.trim() !== '' ? line : undefined;
  if (typeof record['level'] !== 'number' || record['level'] < errorLevel) return undefined;
  return typeof record['msg'] === 'string' ? record['msg'] : line;
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
