import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** `npm start` writes the second file, with the addresses and secrets of the servers that it started. */
const defaultFiles = ['.env', '.local/admin.env'];

/**
 * The environment plus the settings of a file: the given one or, if `DATABASE_URL` is not set, the first default
 * file in the current directory.
 */
export function withEnvironmentFile(env: NodeJS.ProcessEnv, given: string | undefined): NodeJS.ProcessEnv {
  const file = given ?? (env['DATABASE_URL'] ? undefined : defaultFiles.find((name) => existsSync(name)));
  if (file === undefined) return env;
  try {
    // An empty variable counts as absent and does not override the file.
    const set = Object.entries(env).filter(([, value]) => value !== '');
    return { ...parseEnv(readFileSync(file, 'utf8')), ...Object.fromEntries(set) };
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
