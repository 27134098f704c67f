// Runs one spec file many times on a busy machine: npm run test:repeat -- test/runs/life.spec.ts [--times 50]
//
// Its services start once, as for the whole suite. Prints each failure with the number of its run, and exits with 1 if
// there was one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '50' } },
});
const [file] = positionals;
if (positionals.length !== 1) {
  process.stderr.write('Name one spec file: npm run test:repeat -- <spec file> [--times 50]\n');
  process.exit(2);
}

const ownSuite = /^test\/(faults|operations)\//.exec(file)?.[0];
const beside = (name) => fileURLToPath(new URL(`test-repeat/${name}`, import.meta.url));
const jest = spawn(
  process.execPath,
  [
    'node_modules/jest/bin/jest.js',
    ...(ownSuite ? ['--config', `${ownSuite}jest.config.mjs`] : []),
    // The file need not tolerate itself on another worker.
    '--maxWorkers=1',
    '--testSequencer',
    beside('sequencer.mjs'),
    '--reporters',
    beside('reporter.mjs'),
    '--runTestsByPath',
    file,
  ],
  { env: { ...process.env, REPEAT_TIMES: options.times }, stdio: 'inherit' },
);
// Threads end with this process, even if it is killed.
const load = os.cpus().map(() => new Worker('for (;;);', { eval: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => jest.kill(signal));
const [code] = await once(jest, 'close');
await Promise.all(load.map((thread) => thread.terminate()));
process.exitCode = code ?? 1;
