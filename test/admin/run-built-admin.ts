import { execFile } from 'node:child_process';
import { appMain } from '../../apps/local/src/checkout.js';
import { longTimeouts } from '../harness/index.js';

interface Finished {
  /** Null after a signal. */
  code: number | null;
  out: string;
  error: string;
}

interface Options {
  words: readonly string[];
  nodeArguments?: readonly string[];
  maxBuffer?: number;
}

/** Runs one command of the built program with only PATH, long timeouts and `env` in its environment. */
export const runBuiltAdmin = (env: Record<string, string>, ...words: string[]): Promise<Finished> =>
  runBuilt(env, { words });

export function runBuilt(env: Record<string, string>, options: Options): Promise<Finished> {
  const { PATH = '' } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...(options.nodeArguments ?? []), appMain('admin'), ...options.words],
      { env: { PATH, ...longTimeouts, ...env }, timeout: 150_000, maxBuffer: options.maxBuffer },
      (_failed, out, error) => resolve({ code: child.exitCode, out, error }),
    );
  });
}
