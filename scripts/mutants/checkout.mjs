// A copy of the working tree, in which mutants are tried, so that the tree itself is never changed.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
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
import ts from 'typescript';

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

/** The mutants that compile. All are compiled together, and those of a file with an error once more alone. */
export function compiling(folder, mutants) {
  const broken = new Set(filesWithErrors(folder, mutants));
  return mutants.filter(
    (mutant) => !broken.has(mutant.file) || (mutants.length > 1 && compiling(folder, [mutant]).length > 0),
  );
}

function filesWithErrors(folder, mutants) {
  const files = new Map();
  // From the end, so that the offsets of the others stay.
  for (const { file, start, end, text } of mutants.toSorted((left, right) => right.start - left.start)) {
    const source = files.get(file) ?? readFileSync(file, 'utf8');
    files.set(file, source.slice(0, start) + text + source.slice(end));
  }
  for (const [file, text] of files) writeFileSync(path.join(folder, file), text);
  const compiler = [
    'node_modules/typescript7/bin/tsc',
    '-p',
    'tsconfig.build.json',
    '--noEmit',
    '--pretty',
    'false',
  ];
  const { stdout } = spawnSync(process.execPath, compiler, { cwd: folder, encoding: 'utf8' });
  for (const file of files.keys()) copyFileSync(file, path.join(folder, file));
  return [...stdout.matchAll(/^([^\s(]+)\(/gm)].map(([, file]) => file);
}

/** Changes the mutant's file and its build, and returns what restores both. */
export function applyMutant(folder, { file, start, end, text }) {
  const compiled = `dist/${file.replace(/\.ts$/, '.js')}`;
  const changed = [file, compiled].map((name) => path.join(folder, name));
  const contents = changed.map((name) => readFileSync(name, 'utf8'));
  const source = contents[0].slice(0, start) + text + contents[0].slice(end);
  writeFileSync(changed[0], source);
  writeFileSync(changed[1], ts.transpileModule(source, { compilerOptions, fileName: file }).outputText);
  return () => changed.forEach((name, nth) => writeFileSync(name, contents[nth]));
}

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile('tsconfig.json', (name) => ts.sys.readFile(name)).config,
  ts.sys,
  process.cwd(),
);
/** As in the build, where package.json makes each file an ES module. */
const compilerOptions = {
  ...options,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};
