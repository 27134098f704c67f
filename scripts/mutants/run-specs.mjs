// Runs spec files in the copy of the checkout, in the given order, up to the first that fails.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
const jest = 'node_modules/jest/bin/jest.js';

/**
 * Resolves to `{ failed: [{ file, test, message }], isTimeout }`; a failure without a file is one of the services. Runs
 * the files again if the machine slept meanwhile, because tests fail when their time has passed.
 */
export async function runSpecs(folder, project, files, options) {
  for (;;) {
    const { slept, ...result } = await runOnce(folder, project, files, options);
    if (!slept) return result;
  }
}

async function runOnce(folder, project, files, { withinMs, bail = true }) {
  const failures = path.join(folder, 'failures.json');
  rmSync(failures, { force: true });
  const child = spawn(
    process.execPath,
    [
      jest,
      ...(bail ? ['--bail'] : []),
      // One file needs no worker process.
      ...(files.length === 1 ? ['--maxWorkers=1'] : []),
      '--reporters',
      beside('failures.mjs'),
      '--testSequencer',
      beside('sequencer.mjs'),
      '--runTestsByPath',
      ...files,
      '--selectProjects',
      project,
    ],
    {
      cwd: folder,
      env: { ...process.env, SPEC_ORDER: files.join('\n'), SPEC_FAILURES: failures },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output = (output + chunk).slice(-20_000)));
  let isTimeout = false;
  let slept = false;
  let beatMs = Date.now();
  const beat = setInterval(() => {
    slept ||= Date.now() - beatMs > 20_000;
    beatMs = Date.now();
  }, 1_000);
  const end = () => {
    try {
      // The group also contains the services.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(() => {
    isTimeout = true;
    end();
  }, withinMs);
  process.prependOnceListener('exit', end);
  const code = await new Promise((resolve) => child.once('close', resolve));
  process.off('exit', end);
  clearTimeout(timer);
  clearInterval(beat);
  const failed = readFailures(failures);
  if (failed.length === 0 && code !== 0 && !isTimeout)
    failed.push({ test: `services of ${project}`, message: output });
  return { failed, isTimeout, slept };
}

function readFailures(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}
