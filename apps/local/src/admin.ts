import { type ChildProcess, spawn } from 'node:child_process';
import { z } from 'zod';
import { appMain } from './checkout.js';
import { describeExit } from './servers/server-process.js';
import { StartFailure } from './start-failure.js';

/** Longest that a command may take. */
const withinSeconds = 120;

const schema = z.object({ id: z.number(), code: z.number(), out: z.string(), error: z.string() });
type Result = z.infer<typeof schema>;

/** Runs an operator's command as an operator would; resolves to the JSON document that was printed. */
export type RunAdmin = (...words: string[]) => Promise<Record<string, unknown>>;

/** The operator's program, loaded once for all commands: that takes longer than they do. */
export class AdminProgram {
  private readonly child: ChildProcess;
  private readonly exited: Promise<void>;
  /** Rejects when no command can be answered any more. */
  private readonly broken: Promise<never>;
  private readonly waiting = new Map<number, (result: Result) => void>();
  private lastId = 0;

  /** It is killed when the signal aborts. */
  constructor(env: NodeJS.ProcessEnv, signal: AbortSignal) {
    const child = spawn(process.execPath, [appMain('admin', 'command-server.js')], {
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      signal,
    });
    child.on('message', (message) => {
      const result = schema.parse(message);
      this.waiting.get(result.id)?.(result);
    });
    // A program that could not be started does not exit.
    this.exited = new Promise((resolve) =>
      child.once('exit', resolve).once('error', () => child.pid ?? resolve()),
    );
    this.broken = new Promise((_resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () =>
        reject(new StartFailure(`admin ended (${describeExit(child)}) before its commands did`)),
      );
    });
    // Nobody may be waiting for a command.
    this.broken.catch(() => {});
    this.child = child;
  }

  /** Its commands with these settings. */
  with(env: NodeJS.ProcessEnv): RunAdmin {
    return async (...words) => {
      const { code, out, error } = await this.result(env, [
        ...words,
        '--json',
        '--timeout-seconds',
        `${withinSeconds}`,
      ]);
      if (code === 0) return JSON.parse(out) as Record<string, unknown>;
      const reason = error.trim().split('\n').join(' ');
      throw new StartFailure(`admin ${words.slice(0, 2).join(' ')}: ${reason || `exit code ${code}`}`);
    };
  }

  /** Resolves when it has ended, which it does with the commands that it still runs. */
  async close(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    await this.exited;
  }

  private async result(env: NodeJS.ProcessEnv, words: string[]): Promise<Result> {
    const id = (this.lastId += 1);
    const answered = new Promise<Result>((resolve) => this.waiting.set(id, resolve));
    try {
      this.child.send({ id, words, env });
      return await Promise.race([answered, this.broken]);
    } finally {
      this.waiting.delete(id);
    }
  }
}
