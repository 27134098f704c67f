// Runs `npm run build` if there is no build, or if a source file is newer than the build.
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Every build ends by writing this file. */
const stamp = path.join(root, 'dist/.built');
/** Written by the build itself or by pip, or not part of the build. */
const isNoInput =
  /(^|\/)(node_modules|dist|openapi\.d\.ts|models-(input|output)\.ts|python\/build|[^/]*\.egg-info|[^/]*\.spec\.ts)(\/|$)/;

if (newestInputMs() > (statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0))
  process.exitCode = await build();

function newestInputMs() {
  const files = ['apps', 'libs', 'test'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name)),
  );
  const others = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  return [...files, ...others.map((name) => path.join(root, name))]
    .filter((file) => !isNoInput.test(path.relative(root, file)))
    .reduce((newest, file) => Math.max(newest, statSync(file).mtimeMs), 0);
}

/** Shows the elapsed seconds on a terminal, because the first build takes about half a minute. */
async function build() {
  const startedMs = performance.now();
  const seconds = () => Math.round((performance.now() - startedMs) / 1000);
  show('building …', '');
  const ticking = process.stderr.isTTY && setInterval(() => show(`building … ${seconds()} s`, ''), 1000);
  const child = spawn('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(ticking);
  show(code === 0 ? `built in ${seconds()} s` : `the build failed after ${seconds()} s`, '\n');
  return code ?? 1;
}

function show(text, end) {
  process.stderr.write(process.stderr.isTTY ? `\r${text}${end}` : `${text}\n`);
}
