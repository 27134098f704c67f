import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { checkout } from '../../apps/local/src/checkout.js';

const run = promisify(execFile);
const packages = ['swift-proxy', 'swift-account', 'swift-container', 'swift-object', 'memcached'];
const cache = path.join(checkout, '.local', 'cache');

export interface SwiftPackages {
  python: string;
  memcached: string;
  env: Record<string, string>;
}

/**
 * OpenStack Swift with its S3 interface, from the packages of Debian or Ubuntu, unpacked into the checkout:
 * nothing is installed and no service starts. Returns a sentence with the reason if that is not possible.
 */
export async function swiftPackages(): Promise<SwiftPackages | string> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return 'it needs apt-get of Debian 12 or Ubuntu, and root, to unpack OpenStack Swift';
  }
  try {
    const folder = path.join(cache, 'swift');
    if (!existsSync(folder)) await unpackInto(folder);
    return describe(folder);
  } catch (error) {
    return `apt-get could not fetch OpenStack Swift: ${String(error)}`;
  }
}

async function unpackInto(folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(path.join(cache, 'swift-'));
  try {
    const archives = path.join(work, 'archives');
    mkdirSync(path.join(archives, 'partial'), { recursive: true });
    await download(archives);
    const unpacked = path.join(work, 'unpacked');
    for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
      await run('dpkg', ['-x', path.join(archives, file), unpacked], { timeout: 120_000 });
    }
    moveUnlessThere(unpacked, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Moves it by an atomic rename, since another test file may be doing the same. */
function moveUnlessThere(unpacked: string, folder: string): void {
  try {
    renameSync(unpacked, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

/** Updates the package lists only if the known ones are outdated. */
async function download(archives: string): Promise<void> {
  const options = ['-o', `Dir::Cache::archives=${archives}`, '-o', 'Debug::NoLocking=1'];
  const fetch = () =>
    aptGet(...options, '-y', '--no-install-recommends', '--download-only', 'install', ...packages);
  try {
    await fetch();
  } catch {
    await aptGet('update');
    await fetch();
  }
}

const aptGet = (...args: string[]) =>
  run('apt-get', ['-q', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 120_000,
  });

/** The machine's own Python, unless the packages brought one. */
function describe(folder: string): SwiftPackages {
  const own = path.join(folder, 'usr/bin/python3');
  const libraries = ['usr/lib', 'lib'].flatMap((parent) => {
    const full = path.join(folder, parent);
    if (!existsSync(full)) return [];
    return readdirSync(full)
      .filter((name) => name.includes('-linux-'))
      .map((name) => path.join(full, name));
  });
  return {
    python: existsSync(own) ? own : '/usr/bin/python3',
    memcached: path.join(folder, 'usr/bin/memcached'),
    env: {
      PYTHONPATH: path.join(folder, 'usr/lib/python3/dist-packages'),
      LD_LIBRARY_PATH: libraries.join(':'),
      LC_ALL: 'C.UTF-8',
    },
  };
}
