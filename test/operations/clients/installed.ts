import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Packages from npm, in a separate folder. */
export class Installed {
  private constructor(readonly folder: string) {}

  static packages(...names: string[]): Installed {
    return Installed.from(['--ignore-scripts', ...names]);
  }

  /** Programs, whose installation puts their binaries into place. */
  static programs(...names: string[]): Installed {
    return Installed.from(['--ignore-scripts=false', ...names]);
  }

  private static from(names: readonly string[]): Installed {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'clients-'));
    writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
    const options = ['--save-exact', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['install', ...options, ...names], { cwd: folder, timeout: 300_000, stdio: 'pipe' });
    return new Installed(folder);
  }

  load<Module>(name: string): Promise<Module> {
    const file = createRequire(path.join(this.folder, 'package.json')).resolve(name);
    return import(pathToFileURL(file).href) as Promise<Module>;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
