import { spawn } from 'node:child_process';
import { appMain } from './checkout.js';
import { StartFailure } from './start-failure.js';

const withinMs = 120_000;

/** Runs operator's commands as an operator would; each resolves to the JSON document that was printed. */
export class Admin {
  constructor(
    private readonly env: NodeJS.ProcessEnv,
    private readonly signal: AbortSignal,
  ) {}

  async run(...words: string[]): Promise<Record<string, unknown>> {
    const child = spawn(process.execPath, [appMain('admin'), ...words, '--json'], {
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: this.signal,
      timeout: withinMs,
    });
    const out: Buffer[] = [];
    const error: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => error.push(chunk));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0) {
      const reason = Buffer.concat(error).toString().trim().split('\n').join(' ');
      throw new StartFailure(`admin ${words.slice(0, 2).join(' ')}: ${reason || `exit code ${code}`}`);
    }
    return JSON.parse(Buffer.concat(out).toString()) as Record<string, unknown>;
  }
}
