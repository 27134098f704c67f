import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** `npm start` writes the second file, with the addresses and secrets of the servers that it started. */
const usualFiles = ['.env', '.local/admin.env'];

/**
 * The environment, completed by a file of settings: the given one or, if the environment names no database,
 * the first usual file in this folder.
 */
export function withEnvironmentFile(env: NodeJS.ProcessEnv, given: string | undefined): NodeJS.ProcessEnv {
  const file = given ?? (env['DATABASE_URL'] ? undefined : usualFiles.find((name) => existsSync(name)));
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
