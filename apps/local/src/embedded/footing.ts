import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { binary, locateNative, type Native } from './native.js';
import { copyWithinReach } from './native-copy.js';
import { StartFailure } from './start-failure.js';

/** How Postgres is run here: with which account, from where, and how it sees its folder. */
export interface Footing {
  native: Native;
  /** The folder as the server is to be told. */
  path: string;
  /** Set when the server gets the folder as descriptor 3, see `ServerSpec.folder`. */
  folder?: string;
  account?: { uid: number; gid: number };
}

/** A cluster made under the locale of the caller could differ in encoding and order from another one. */
export const serverEnvironment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };

/** The account without rights that every system has. */
const nobody = { uid: 65_534, gid: 65_534 };

/**
 * Postgres refuses to run as root. Started by root it gets another account, which must reach two
 * things: its binaries, else they are copied to where it can, and its folder, else it gets the open
 * folder as a descriptor, which passes by the closed folders above it (a checkout below /root).
 */
export function prepareFooting(folder: string): Footing {
  const native = locateNative();
  const account = serverAccount(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!account) return { native: checked(native), path: folder };
  chownSync(folder, account.uid, account.gid);
  const usable = runs(native, account) ? native : copyWithinReach(native, (copy) => runs(copy, account));
  const footing = { native: checked(usable, account), account };
  if (reaches(account, folder)) return { ...footing, path: folder };
  if (process.platform !== 'linux') {
    throw new StartFailure(
      `uid ${account.uid} cannot reach ${folder}: set LOCAL_DIR, or do not start as root`,
    );
  }
  return { ...footing, path: '/proc/self/fd/3', folder };
}

function serverAccount(folder: string): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (!existsSync(folder)) return nobody;
  const { uid, gid } = statSync(folder);
  return uid === 0 ? nobody : { uid, gid };
}

function runs(native: Native, account?: { uid: number; gid: number }): boolean {
  return version(native, account).status === 0;
}

function version(native: Native, account?: { uid: number; gid: number }) {
  return spawnSync(binary(native, 'postgres'), ['--version'], {
    ...account,
    cwd: '/',
    env: { LC_ALL: 'C' },
    encoding: 'utf8',
    timeout: 10_000,
  });
}

function checked(native: Native, account?: { uid: number; gid: number }): Native {
  const tried = version(native, account);
  if (tried.status === 0) return native;
  const reason = tried.error?.message ?? tried.stderr.trim().split('\n')[0];
  throw new StartFailure(`The embedded Postgres does not run on this machine (${reason}): set DATABASE_URL`);
}

function reaches(account: { uid: number; gid: number }, folder: string): boolean {
  const look = spawnSync('/bin/sh', ['-c', 'cd "$0"', path.resolve(folder)], {
    ...account,
    cwd: '/',
    env: {},
    timeout: 10_000,
  });
  return look.status === 0;
}
