import { chmodSync, cpSync, lstatSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Native } from './native.js';
import { StartFailure } from './start-failure.js';

/**
 * Copies the binaries (60 MB) to the first place from which `runs` finds them usable, and finds that copy
 * again next time. A place may be closed to the account, or mounted without the right to execute.
 */
export function copyWithinReach(native: Native, runs: (copy: Native) => boolean): Native {
  const places = [...new Set([os.tmpdir(), '/tmp', '/var/tmp', '/var/lib', '/run'])];
  for (const place of places) {
    const copy = { ...native, folder: path.join(place, `model-router-postgres-${native.version}`) };
    try {
      if (!isOurs(native.folder, copy.folder)) replaceCopy(native.folder, copy.folder);
    } catch {
      continue;
    }
    if (runs(copy)) return copy;
    rmSync(copy.folder, { recursive: true, force: true });
  }
  throw new StartFailure(
    `Postgres cannot run as root, and no other account reaches ${native.folder} or a copy of it in ${places.join(', ')}: set DATABASE_URL`,
  );
}

function replaceCopy(from: string, to: string): void {
  const draft = mkdtempSync(`${to}-`);
  try {
    cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
    openToAll(draft);
    rmSync(to, { recursive: true, force: true });
    renameSync(draft, to);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Whatever the umask of the installation was, the copy can be read and entered by every account. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const each = path.join(folder, entry.name);
    if (entry.isDirectory()) openToAll(each);
    else if (entry.isFile()) chmodSync(each, lstatSync(each).mode & 0o100 ? 0o755 : 0o644);
  }
}

/** In a folder that anybody may write to, a copy counts only when root made all of it and it is complete. */
function isOurs(from: string, copy: string): boolean {
  if (!madeByRoot(copy)) return false;
  return readdirSync(from, { withFileTypes: true }).every((entry) => {
    const original = path.join(from, entry.name);
    const copied = path.join(copy, entry.name);
    if (entry.isDirectory()) return isOurs(original, copied);
    return madeByRoot(copied) && lstatSync(copied).size === lstatSync(original).size;
  });
}

function madeByRoot(file: string): boolean {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (!stat || stat.uid !== 0) return false;
  return stat.isSymbolicLink() || (stat.mode & 0o022) === 0;
}
