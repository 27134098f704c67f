import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { serverEnvironment, type Footing } from './footing.js';
import { binary } from './native.js';
import { StartFailure } from './start-failure.js';

const withinMs = 120_000;

/** Makes a cluster with the account and the view of the folder that the server will have. */
export async function runInitdb(
  footing: Footing,
  signal: AbortSignal | undefined,
  args: string[],
): Promise<void> {
  const folder =
    footing.folder === undefined
      ? undefined
      : openSync(footing.folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const child = spawn(binary(footing.native, 'initdb'), args, {
      ...footing.account,
      cwd: '/',
      env: serverEnvironment,
      stdio: ['ignore', 'pipe', 'pipe', ...(folder === undefined ? [] : [folder])],
      timeout: withinMs,
      ...(signal && { signal }),
    });
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0) throw new StartFailure(`Postgres could not make its data: ${reason(said)}`);
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

function reason(said: string): string {
  const lines = said.trim().split('\n');
  return (
    lines.find((line) => /error|fatal|could not/i.test(line)) ??
    lines.at(-1) ??
    'it said nothing'
  ).trim();
}
