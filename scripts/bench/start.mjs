// How long `npm start` takes from built to ready: on a first start, which creates the data, and on existing data.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../dist/apps/local/src/ports.js';
import { atMost } from './load.mjs';

const aimSeconds = 4;

export async function* run() {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-start-'));
  try {
    for (const what of ['first start', 'second start']) {
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
      process.kill(-Number(child.pid), 'SIGINT');
      await closed;
      yield atMost(`npm start from built to ready, ${what}`, seconds, aimSeconds, 's', 1);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
