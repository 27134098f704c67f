import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ListedAsset } from './port.js';

/** What belongs to the store itself has this character in its name; no key has it. */
export const reserved = '~';

/** The files below `root` whose path starts with `prefix`, in the order of the keys' bytes. */
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
  for (const { name, isFolder } of await entriesOf(path.join(root, folder))) {
    signal.throwIfAborted();
    const key = folder + name;
    if (isFolder) {
      if (key.startsWith(prefix) || prefix.startsWith(key)) yield* walk(root, key, prefix, signal);
    } else if (key.startsWith(prefix)) {
      const facts = await unlessGone(stat(path.join(root, key)));
      if (facts) yield { key, bytes: facts.size, storedAtMs: facts.mtimeMs };
    }
  }
}

/** A folder is compared with its slash, as it stands in a key: `a-b` comes before `a/b`. */
async function entriesOf(folder: string): Promise<{ name: string; isFolder: boolean }[]> {
  const entries = (await unlessGone<Dirent[]>(readdir(folder, { withFileTypes: true }))) ?? [];
  return entries
    .filter((entry) => !entry.name.includes(reserved))
    .map((entry) => ({ name: entry.name + (entry.isDirectory() ? '/' : ''), isFolder: entry.isDirectory() }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
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
