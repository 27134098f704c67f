// How long `npm start` takes from built to ready: on a first start, which creates the data, and on existing data. And
// how much memory its gateway and its worker, which know all providers, take when they are idle. And what a command of
// `admin` costs, which often runs in a container that serves calls.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { appMain } from '../../dist/apps/local/src/checkout.js';
import { freePort } from '../../dist/apps/local/src/ports.js';
import { childrenOf } from '../../dist/test/harness/servers.js';
import { atMost } from './load.mjs';
import { residentBytes } from './service.mjs';
import { sizeOf } from './size.mjs';

/** A first start also creates the database, so it has no aim. */
const aimSeconds = 4;
/** In MiB, including the 50 MiB of the Node binary that all processes share. */
const idleAims = { gateway: 160, worker: 130 };

/** Commands of `admin`, and their aims for CPU seconds and MiB. */
const commandAims = [
  { words: ['--version'], seconds: 0.2, mebibytes: 80 },
  { words: ['run', 'list', '--stuck'], seconds: 0.6, mebibytes: 80 },
];
/** Writes the CPU seconds and the resident MiB of its process to standard error. */
const report = `process.on('exit', () => { const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  process.stderr.write(JSON.stringify([(userCPUTime + systemCPUTime) / 1e6, maxRSS / 1024])); });`;

export async function* run() {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-start-'));
  try {
    for (const [what, aim] of [
      ['first start', Infinity],
      ['second start', aimSeconds],
    ]) {
      const port = await freePort();
      const startedMs = performance.now();
      const child = spawn('npm', ['start'], {
        // It has its own group, so that it can be interrupted as a terminal does it.
        detached: true,
        env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(port), LOCAL_DIR: folder },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const closed = once(child, 'close');
      // `ready.json` is written just before the lines that tell a person how to continue.
      while (!existsSync(path.join(folder, 'ready.json')) && child.exitCode === null) await pause(50);
      const seconds = (performance.now() - startedMs) / 1000;
      if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}`);
      yield atMost(`npm start from built to ready, ${what}`, seconds, aim, 's', 1);
      if (what === 'second start') {
        yield* idleMemory(child.pid);
        yield* commandCosts(path.join(folder, 'admin.env'));
      }
      process.kill(-Number(child.pid), 'SIGINT');
      await closed;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function* idleMemory(npmPid) {
  await pause(sizeOf('IDLE_MS'));
  const pids = processesBelow(npmPid);
  for (const [app, aim] of Object.entries(idleAims)) {
    const pid = pids.find((each) => readFileSync(`/proc/${each}/cmdline`, 'utf8').includes(`/apps/${app}/`));
    yield atMost(`resident memory of an idle ${app}`, residentBytes(pid) / 2 ** 20, aim, 'MiB');
  }
}

function* commandCosts(settingsFile) {
  for (const { words, seconds, mebibytes } of commandAims) {
    const [cpuSeconds, resident] = costOf(['--env-file', settingsFile, ...words]);
    yield atMost(`CPU of \`admin ${words.join(' ')}\``, cpuSeconds, seconds, 's', 2);
    yield atMost(`memory of \`admin ${words.join(' ')}\``, resident, mebibytes, 'MiB');
  }
}

function costOf(words) {
  const program = ['--import', `data:text/javascript,${encodeURIComponent(report)}`, appMain('admin')];
  return JSON.parse(spawnSync(process.execPath, [...program, ...words], { encoding: 'utf8' }).stderr);
}

const processesBelow = (parent) => childrenOf(parent).flatMap((pid) => [pid, ...processesBelow(pid)]);
