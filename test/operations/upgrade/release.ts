import { execFile } from 'node:child_process';
import { existsSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { checkout } from '../../../apps/local/src/checkout.js';
import { oneAtATime } from '../../harness/database.js';
import { runFolder, temporaryFolder } from '../../harness/running.js';

const run = promisify(execFile);

/** The release that an upgrade starts from: the commit that froze the schema, and later the latest tag. */
export const previousRelease = 'f6ee4410955085aa71dde3b6d469d91e9c255a21';

const lockOf = (folder: string) => readFileSync(path.join(folder, 'package-lock.json'), 'utf8');

/** A built release in a separate folder. */
export class Release {
  private constructor(readonly folder: string) {}

  /** This checkout, as built. */
  static readonly current = new Release(checkout);

  /** Checks out a commit from this checkout's history and builds it, once for all test files of the run. */
  static async build(commit: string): Promise<Release> {
    const folder = path.join(runFolder(), `release-${commit}`);
    await oneAtATime(folder, async () => {
      if (existsSync(folder)) return;
      const work = temporaryFolder('release');
      const archive = path.join(work, 'archive.tar');
      await run('git', ['archive', '--output', archive, commit], { cwd: checkout });
      await run('tar', ['-xf', archive, '-C', work]);
      if (lockOf(work) === lockOf(checkout))
        symlinkSync(path.join(checkout, 'node_modules'), path.join(work, 'node_modules'));
      else await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: work });
      await run('npm', ['run', '--silent', 'build'], { cwd: work });
      renameSync(work, folder);
    });
    return new Release(folder);
  }

  /** Runs an operator's command and returns its JSON. */
  async admin<T>(env: Record<string, string>, ...words: string[]): Promise<T> {
    const main = path.join(this.folder, 'dist/apps/admin/src/main.js');
    const { stdout } = await run(process.execPath, [main, '--env-file', '/dev/null', ...words, '--json'], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      timeout: 180_000,
    });
    return JSON.parse(stdout) as T;
  }
}
