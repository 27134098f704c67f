import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const monotonicStays = { FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' };

/**
 * The environment of a process whose clock is wrong. The monotonic clock is not shifted, because timers depend on
 * it.
 */
export function clockOff(offset: string): Record<string, string> {
  return { LD_PRELOAD: libfaketime(), FAKETIME: offset, ...monotonicStays };
}

/** The same for a clock whose offset a file sets at any time. */
export function clockFrom(file: string): Record<string, string> {
  return {
    LD_PRELOAD: libfaketime(),
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    ...monotonicStays,
  };
}

/** Installed by apt if possible; tests of clocks need it. */
function libfaketime(): string {
  if (findLibfaketime() === '' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    execFileSync(
      'apt-get',
      ['-q', '-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '--no-install-recommends', 'libfaketime'],
      {
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
        stdio: 'ignore',
        timeout: 300_000,
      },
    );
  }
  const found = findLibfaketime();
  if (found === '') throw new Error('This test needs libfaketime: apt-get install libfaketime');
  return found;
}

const findLibfaketime = (): string =>
  execFileSync('find', ['/usr/lib', '-name', 'libfaketime.so*'], { encoding: 'utf8' }).split('\n')[0] ?? '';
