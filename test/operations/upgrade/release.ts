import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { checkout } from '../../../apps/local/src/checkout.js';
import { temporaryFolder } from '../../harness/index.js';

/** The release that an upgrade starts from: the commit that froze the schema, and later the latest tag. */
export const previousRelease = 'f6ee4410955085aa71dde3b6d469d91e9c255a21';

const lockOf = (folder: string) => readFileSync(path.join(folder, 'package-lock.json'), 'utf8');

/** A built release in a separate folder. */
export class Release {
  private constructor(readonly folder: string) {}

  /** This checkout, as built. */
  static readonly current = new Release(checkout);

  /** Checks out a commit from this checkout's history and builds it. */
  static build(commit: string): Release {
    const folder = temporaryFolder('release');
    const archive = execFileSync('git', ['archive', commit], { cwd: checkout, maxBuffer: 256 * 1024 * 1024 });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    if (lockOf(folder) === lockOf(checkout))
      symlinkSync(path.join(checkout, 'node_modules'), path.join(folder, 'node_modules'));
    else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
    execFileSync('npm', ['run', '--silent', 'build'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return new Release(folder);
  }

  /** Runs an operator's command and returns its JSON. */
  async admin<T>(env: Record<string, string>, ...words: string[]): Promise<T> {
    const main = path.join(this.folder, 'dist/apps/admin/src/main.js');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [main, '--env-file', '/dev/null', ...words, '--json'],
      { env: { PATH: process.env['PATH'] ?? '', ...env }, timeout: 180_000 },
    );
    return JSON.parse(stdout) as T;
  }
}
