import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants, runInThisContext } from 'node:vm';

/** Packages from npm, in a separate folder. */
export class Installed {
  private constructor(readonly folder: string) {}

  static packages(...names: string[]): Installed {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'clients-'));
    writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
    const options = ['--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['install', ...options, ...names], { cwd: folder, timeout: 300_000, stdio: 'pipe' });
    return new Installed(folder);
  }

  /** Loads it with Node instead of Jest, as an application does. */
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

/**
 * An object as the packages know it, because each realm has its own prototypes and Jest runs tests in another
 * realm.
 */
export const plain = (object: object): object =>
  (runInThisContext('Object.fromEntries') as typeof Object.fromEntries)(Object.entries(object));
