import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { appMain } from '../../apps/local/src/checkout.js';
import { isRunning } from '../../apps/local/src/processes.js';
import { least, freePort } from '../harness/faults.js';
import { failOnLeftovers, longTimeouts, unending, waitFor } from '../harness/index.js';
import {
  installationFolder,
  launch,
  type Launched,
  leftForMs,
  nothingLeft,
  processesOf,
  readyWithinMs,
  removeInstallation,
} from '../operations/local/launched.js';

describe('the end of a launcher', () => {
  const folder = installationFolder();
  let launched: Launched;
  const start = async () => {
    launched = await launch({ folder });
    await launched.ready();
  };
  beforeEach(start);
  afterEach(() => launched.kill('SIGKILL'));
  afterAll(() => removeInstallation(folder));

  it('by Ctrl-C, which reaches the whole process group, stops everything', async () => {
    launched.killGroup('SIGINT');
    expect(await launched.ended).toBe(0);
    await nothingLeft(folder, 500);
    expect(existsSync(path.join(folder, 'ready.json'))).toBe(false);
  });

  it('by Ctrl-C ends calls that the gateway holds', async () => {
    await endsInFiveSeconds(async () => {
      const { base_url: base, api_key: key } = await launched.ready();
      const call = (path: string, init: RequestInit = {}) =>
        fetch(`${base}/v2/${path}`, { headers: { 'X-API-Key': key }, ...init });
      const answering = call('models/bfl/flux-2-pro', {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ prompt: unending }),
      });
      await waitFor(async () => (await (await call('requests')).text()).includes('IN_PROGRESS'), {
        withinMs: 30_000,
        what: 'the run',
      });
      launched.killGroup('SIGINT');
      expect((await answering).status).toBe(504);
      expect(await launched.ended).toBe(0);
    });
  });

  it('by kill -9 leaves processes that the next start on the same port stops', async () => {
    const left = processesOf(folder).filter(({ pid }) => pid !== launched.pid);
    launched.kill('SIGKILL');
    await launched.ended;
    await startOver(left);
  });

  it('by kill -9 leaves a frozen app that the next start stops', async () => {
    const left = processesOf(folder).filter(({ pid }) => pid !== launched.pid);
    process.kill(pidOf(/apps\/gateway\//), 'SIGSTOP');
    launched.kill('SIGKILL');
    await launched.ended;
    await startOver(left);
  });

  it('follows when npm was killed', async () => {
    await endsInFiveSeconds(async () => {
      launched.kill('SIGTERM');
      await launched.ended;
      const { PATH, HOME } = process.env;
      const env = { PATH, HOME, ...longTimeouts, LOCAL_DIR: folder, PORT: String(await freePort()) };
      const npm = spawn('/bin/sh', ['-c', '"$0" "$1" & wait', process.execPath, appMain('local')], {
        env: { ...env, npm_lifecycle_event: 'start' },
        stdio: 'ignore',
      });
      await waitFor(() => existsSync(path.join(folder, 'ready.json')), {
        withinMs: readyWithinMs,
        what: 'ready.json',
      });
      npm.kill('SIGKILL');
    });
  });

  it.each(['gateway', 'worker', 'simulator'])(
    'follows when the %s dies, and prints one line about it',
    async (name) => {
      process.kill(pidOf(new RegExp(`apps/${name}/`)), 'SIGKILL');
      expect(await launched.ended).toBe(1);
      expect(launched.error()).toMatch(
        new RegExp(`^model-router: ${name} ended \\(SIGKILL\\).*${name}\\.log\\)\n$`),
      );
      await nothingLeft(folder, 500);
    },
  );

  it('follows when Postgres dies', async () => {
    process.kill(pidOf(/bin\/postgres -D/), 'SIGKILL');
    expect(await launched.ended).toBe(1);
    expect(launched.error()).toContain('model-router: postgres ended');
    await nothingLeft(folder, 500);
  });

  /** Starts again on the same port with new servers, and expects the end to leave nothing behind. */
  async function startOver(left: readonly { pid: number }[]): Promise<void> {
    launched = await launch({ folder, port: await portOf(launched) });
    await launched.ready();
    expect(launched.error()).toBe('');
    expect(left.filter(({ pid }) => isRunning(pid))).toEqual([]);
    launched.kill('SIGTERM');
    expect(await launched.ended).toBe(0);
    await nothingLeft(folder, 500);
  }

  async function endsInFiveSeconds(end: () => Promise<void>): Promise<void> {
    const measure = async (attempt: number) => {
      if (attempt > 1) await start();
      await end();
      return leftForMs(folder);
    };
    expect(await least(5_000, measure)).toBeLessThan(5_000);
  }

  function pidOf(pattern: RegExp): number {
    const processes = processesOf(folder);
    const found = processes.find(({ command }) => pattern.test(command));
    if (!found) throw new Error(`Nothing like ${pattern} in ${JSON.stringify(processes)}`);
    return found.pid;
  }
});

failOnLeftovers();

async function portOf(launched: Launched): Promise<number> {
  return Number(/^base URL .*:(\d+)$/m.exec(launched.out())?.[1]);
}
