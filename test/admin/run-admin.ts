import { commandGroups } from '../../apps/admin/src/command-groups.js';
import { runProgram } from '../../apps/admin/src/program.js';
import { longTimeouts } from '../harness/index.js';

interface Finished {
  code: number;
  out: string;
  error: string;
}

/**
 * Runs one command in this process, with only long timeouts and `env` in its environment, and without any file of
 * this checkout.
 */
export async function runAdmin(env: Record<string, string>, ...words: string[]): Promise<Finished> {
  const said = { out: '', error: '' };
  const code = await runProgram(
    commandGroups,
    ['--env-file', '/dev/null', ...words],
    { ...longTimeouts, ...env },
    {
      out: (text) => void (said.out += text),
      error: (text) => void (said.error += text),
    },
  );
  return { code, ...said };
}

/** The JSON document of a command, which must succeed. */
export async function answerOf<T>(env: Record<string, string>, ...words: string[]): Promise<T> {
  const { code, out, error } = await runAdmin(env, ...words, '--json');
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${error}`);
  return JSON.parse(out) as T;
}

/** The lines of `usage export`. */
export async function exportedLines(env: Record<string, string>, words: string[]): Promise<string[]> {
  const { code, out, error } = await runAdmin(env, 'usage', 'export', ...words);
  if (code !== 0) throw new Error(`the export ended with ${code}: ${error}`);
  return out.split(/\r?\n/).slice(0, -1);
}
