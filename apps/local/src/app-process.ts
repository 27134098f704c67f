import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, existsSync, renameSync } from 'node:fs';
import readline from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { appMain } from './checkout.js';
import type { Guard } from './embedded/guard.js';
import { lastLines } from './embedded/server-log.js';
import { StartFailure } from './embedded/start-failure.js';
import { worthShowing } from './worth-showing.js';

const readyWithinMs = 60_000;

interface AppOptions {
  name: string;
  guard: Guard;
  env: NodeJS.ProcessEnv;
  logPath: string;
  /** Gets the errors of its log, one line each. */
  show: (line: string) => void;
}

/** One of the apps as a child process: its log in a file, its errors shown as well. */
export class AppProcess {
  readonly name: string;
  private readonly child: ChildProcess;
  private lastLine = '';
  /** Settles when it has ended, for whatever reason. */
  readonly ended: Promise<void>;

  constructor(private readonly options: AppOptions) {
    this.name = options.name;
    if (existsSync(options.logPath)) renameSync(options.logPath, `${options.logPath}.1`);
    // A process group of its own: Ctrl-C reaches the launcher alone, which stops the apps in order. The
    // channel tells the app when the launcher is gone.
    this.child = spawn(process.execPath, ['--enable-source-maps', appMain(options.name)], {
      env: options.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    options.guard.watch(this.child);
    this.ended = new Promise((resolve) => {
      this.child.once('exit', () => resolve());
      // It could not be started at all.
      this.child.once('error', () => resolve());
    });
    this.keepLog();
  }

  get running(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** One line for people: that it ended, how, and where to read on. */
  get epitaph(): string {
    const how = this.child.signalCode ?? `exit code ${this.child.exitCode ?? 'unknown'}`;
    return `${this.name} ended (${how}): ${this.lastWords()} (log: ${this.options.logPath})`;
  }

  /** Asks `isReady` until it is true; throws when the app ends before, or takes too long. */
  async untilReady(isReady: () => Promise<boolean>): Promise<void> {
    const lastMs = Date.now() + readyWithinMs;
    while (Date.now() < lastMs) {
      if (!this.running) throw new StartFailure(this.epitaph);
      if (await isReady().catch(() => false)) return;
      await pause(25);
    }
    throw new StartFailure(`${this.name} is not ready after a minute (log: ${this.options.logPath})`);
  }

  async stop(graceMs: number): Promise<void> {
    if (!this.running) return;
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), graceMs);
    await this.ended;
    clearTimeout(timer);
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
        const shown = worthShowing(line, stream === this.child.stderr);
        if (shown !== undefined) this.options.show(`${this.name}: ${shown}`);
      });
    }
    this.child.once('close', () => log.end());
  }

  private lastWords(): string {
    return this.lastLine || lastLines(this.options.logPath, 1) || 'it said nothing';
  }
}
