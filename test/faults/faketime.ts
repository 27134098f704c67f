import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const folder = '/usr/lib';
/** Debian keeps libraries in a folder named after the machine. */
const find = () =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .map((machine) => path.join(folder, machine, 'faketime/libfaketime.so.1'))
    .find((file) => existsSync(file));

/**
 * The library that gives a process another time of day, installed on Debian when we may; undefined where there
 * is none, which NO_SKIP=1 forbids.
 */
export function fakeTimeLibrary(): string | undefined {
  if (!find() && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    process.stderr.write('Installing faketime with apt-get …\n');
    try {
      install();
    } catch (error) {
      process.stderr.write(`apt-get could not install faketime: ${String(error)}\n`);
    }
  }
  const library = find();
  if (library === undefined) {
    if (process.env['NO_SKIP'] === '1') throw new Error('NO_SKIP=1, and there is no libfaketime');
    process.stderr.write('No libfaketime, tests with wrong clocks are skipped: apt-get install faketime\n');
  }
  return library;
}

/** Environment of a process whose clock is off; how fast time passes, and every timer, stays as it is. */
export function clockOff(library: string, offset: `${'+' | '-'}${number}m`): Record<string, string> {
  return {
    LD_PRELOAD: library,
    FAKETIME: offset,
    DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

function aptGet(...args: string[]): void {
  execFileSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 300_000,
  });
}

function install(): void {
  const installation = ['install', '-y', '--no-install-recommends', 'faketime'];
  try {
    aptGet(...installation);
  } catch {
    aptGet('update');
    aptGet(...installation);
  }
}
