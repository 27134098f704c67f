import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { every } from '#observability';

/** An editor, or a mounted volume that is swapped, makes several changes in quick succession. */
const settleMs = 200;

/**
 * Calls `changed` after the files of a directory have changed and settled. It uses the notifications of the system.
 * On volumes without them, such as network volumes, it polls every `everyMs`.
 */
export function watchDirectories(
  directories: readonly string[],
  everyMs: number,
  changed: () => void,
): { stop: () => void } {
  let settling: NodeJS.Timeout | undefined;
  let known: string | undefined;
  const notice = () => {
    clearTimeout(settling);
    settling = setTimeout(changed, settleMs).unref();
  };
  const look = async (): Promise<void> => {
    const now = (await Promise.all(directories.map(stampOf))).join('\n');
    if (known !== undefined && now !== known) notice();
    known = now;
  };
  const looking = every(everyMs, look, { onError: notice, immediately: true });
  const watchers = directories.flatMap((directory) => watcherOf(directory, notice) ?? []);
  return {
    stop() {
      clearTimeout(settling);
      void looking.stop();
      for (const watcher of watchers) watcher.close();
    },
  };
}

function watcherOf(directory: string, notice: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, notice);
    // The directory may vanish, or the system may run out of watches. Polling continues.
    return watcher.on('error', () => watcher.close());
  } catch {
    return undefined;
  }
}

/** Changes when a file is added, removed, replaced or written. It does not read any file. */
async function stampOf(directory: string): Promise<string> {
  try {
    const names = (await readdir(directory)).sort();
    const stamps = names.map(async (name) => {
      const { ino, size, mtimeMs } = await stat(join(directory, name));
      return `${name} ${ino} ${size} ${mtimeMs}`;
    });
    return (await Promise.all(stamps)).join('\n');
  } catch (error) {
    return String(error);
  }
}
