// How long `npm start` takes from built to ready: on a first start, which creates the data, and on existing data. And
// how much memory its gateway and its worker, which know all providers, take when they are idle.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../dist/apps/local/src/ports.js';
import { childrenOf } from '../../dist/test/harness/servers.js';
import { atMost } from './load.mjs';
import { residentBytes } from './service.mjs';
import { sizeOf } from './size.mjs';

/** A first start also creates the database, so it has no aim. */
const aimSeconds = 4;
/** In MiB, including the 50 MiB of the Node binary that all processes share. */
const idleAims = { gateway: 160, worker: 130 };

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
      if (what === 'second start') yield* idleMemory(child.pid);
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

const processesBelow = (parent) => childrenOf(parent).flatMap((pid) => [pid, ...processesBelow(pid)]);
