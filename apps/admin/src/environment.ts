import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** The second one is what `npm start` writes, with the addresses and secrets of what it has started. */
const usualFiles = ['.env', '.local/admin.env'];

/**
 * The environment, and beneath it a file of settings: the one that is given, or, where the environment names no
 * database, the first usual one of this folder.
 */
export function withEnvironmentFile(env: NodeJS.ProcessEnv, given: string | undefined): NodeJS.ProcessEnv {
  const file = given ?? (env['DATABASE_URL'] ? undefined : usualFiles.find((name) => existsSync(name)));
  if (file === undefined) return env;
  try {
    // An empty variable counts as absent: it hides nothing of the file.
    const said = Object.entries(env).filter(([, value]) => value !== '');
    return { ...parseEnv(readFileSync(file, 'utf8')), ...Object.fromEntries(said) };
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
