import { execFile, spawn } from 'node:child_process';
import readline from 'node:readline';
import { appMain } from '../../apps/local/src/checkout.js';
import { patience } from '../harness/index.js';

interface Finished {
  code: number | null;
  out: string;
  error: string;
}

/** Its own time limit is two minutes. */
const timeout = 150_000;

/** Runs one command of the built program with nothing but PATH, patience and `env` in its environment. */
export function runAdmin(env: Record<string, string>, ...words: string[]): Promise<Finished> {
  const { PATH = '' } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [appMain('admin'), ...words],
      { env: { PATH, ...patience, ...env }, timeout },
      (_failed, out, error) => resolve({ code: child.exitCode, out, error }),
    );
  });
}

/** The one JSON document of a command that must succeed. */
export async function answerOf<T>(env: Record<string, string>, ...words: string[]): Promise<T> {
  const { code, out, error } = await runAdmin(env, ...words, '--json');
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${error}`);
  return JSON.parse(out) as T;
}

/** The lines of `usage export`, read as they come. */
export async function exportedLines(
  env: Record<string, string>,
  words: string[],
  nodeArguments: string[] = [],
): Promise<string[]> {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [...nodeArguments, appMain('admin'), 'usage', 'export', ...words], {
    env: { PATH, ...patience, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
  });
  let error = '';
  child.stderr.on('data', (chunk: Buffer) => (error += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines: string[] = [];
  for await (const line of readline.createInterface({ input: child.stdout })) lines.push(line);
  const code = await ended;
  if (code !== 0) throw new Error(`the export ended with ${code}: ${error}`);
  return lines;
}
