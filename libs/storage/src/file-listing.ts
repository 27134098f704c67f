import { opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ListedAsset } from './port.js';

/** What belongs to the store itself has this character in its name; no key has it. */
export const reserved = '~';

/** The files below `root` whose path starts with `prefix`. A folder is read entry by entry: it may hold a million runs. */
export async function* listFiles(
  root: string,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<ListedAsset> {
  yield* walk(root, prefix.slice(0, prefix.lastIndexOf('/') + 1), prefix, signal);
}

async function* walk(
  root: string,
  folder: string,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<ListedAsset> {
  // Leaving the loop closes the folder, also when the listing is broken off.
  for await (const entry of (await unlessGone(opendir(path.join(root, folder)))) ?? []) {
    signal.throwIfAborted();
    if (entry.name.includes(reserved)) continue;
    const key = folder + entry.name;
    if (entry.isDirectory()) {
      const below = `${key}/`;
      if (below.startsWith(prefix) || prefix.startsWith(below)) yield* walk(root, below, prefix, signal);
    } else if (key.startsWith(prefix)) {
      const facts = await unlessGone(stat(path.join(root, key)));
      if (facts) yield { key, bytes: facts.size, storedAtMs: facts.mtimeMs };
    }
  }
}

/** Undefined when another process has removed it meanwhile. */
export async function unlessGone<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
