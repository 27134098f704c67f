import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants, runInThisContext } from 'node:vm';

/** Packages as npm has them, in a folder of their own. */
export class Installed {
  private constructor(readonly folder: string) {}

  static packages(...names: string[]): Installed {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'clients-'));
    writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
    const options = ['--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['install', ...options, ...names], { cwd: folder, timeout: 300_000, stdio: 'pipe' });
    return new Installed(folder);
  }

  /** Loaded by Node, not by Jest: as an application loads it. */
  load<Module>(name: string): Promise<Module> {
    const { resolve } = createRequire(path.join(this.folder, 'package.json'));
    return runInThisContext(`import(${JSON.stringify(pathToFileURL(resolve(name)).href)})`, {
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    }) as Promise<Module>;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** An object as the packages know it: each realm has a prototype of its own, and Jest runs tests in another. */
export const plain = (object: object): object =>
  (runInThisContext('Object.fromEntries') as typeof Object.fromEntries)(Object.entries(object));
