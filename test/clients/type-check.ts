import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/**
 * Compiles a program that sees only the packages of its folder into `built`. Rejects with the errors of its types and
 * of those that the packages declare.
 */
export async function typeCheck(
  folder: string,
  file: string,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
    rootDir: '.',
    outDir: 'built',
    ...options,
  };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  await promisify(execFile)(process.execPath, [compiler], { cwd: folder, timeout: 120_000 }).catch(
    (error: { stdout?: string }) => {
      throw new Error(`${file}: ${error.stdout}`);
    },
  );
}
