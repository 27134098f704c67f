// A copy of the working tree, in which mutants are tried, so that the tree itself is never changed.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Needs a current build, which it copies. The copy is removed when the process exits. */
export function copyOfCheckout() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'model-router-mutants-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { encoding: 'utf8' });
  for (const file of listed.split('\0').filter(Boolean)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    // A deleted file is listed until its deletion is committed.
    if (lstatSync(file, { throwIfNoEntry: false }))
      cpSync(file, path.join(folder, file), { verbatimSymlinks: true });
  }
  for (const built of ['dist', 'libs/client/dist', 'apps/console/src/api/openapi.d.ts'])
    cpSync(built, path.join(folder, built), { recursive: true, preserveTimestamps: true });
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

/** Changes the mutant's file and its build. Returns undefined if it does not compile, or else what restores both. */
export function applyMutant(folder, { file, start, end, text }) {
  const source = readFileSync(path.join(folder, file), 'utf8');
  const compiled = path.join('dist', file.replace(/\.ts$/, '.js'));
  const changed = [file, compiled, `${compiled}.map`, 'dist/.build.tsbuildinfo'].map((name) =>
    path.join(folder, name),
  );
  const contents = changed.map((name) => readFileSync(name));
  const restore = () => changed.forEach((name, nth) => writeFileSync(name, contents[nth]));
  writeFileSync(path.join(folder, file), source.slice(0, start) + text + source.slice(end));
  const compiler = ['node_modules/typescript7/bin/tsc', '-p', 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, compiler, { cwd: folder, stdio: 'ignore' });
  if (status === 0) return restore;
  restore();
  return undefined;
}
