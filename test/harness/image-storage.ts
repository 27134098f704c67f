import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { checkout } from '../../apps/local/src/checkout.js';

const run = promisify(execFile);
const nodeVersion = '24.21.0';
const npmVersion = '11.21.2';

/** Shared by all checkouts, because its content takes minutes to build. */
const folder = path.join(
  process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'),
  'model-router-images',
);

/** Flags that keep podman and buildah out of the machine's own storage. */
export const storageFlags = ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run')];
export const buildImage = `localhost/model-router-build:node-${nodeVersion}`;
export const runImage = `localhost/model-router-run:node-${nodeVersion}`;
/** Flags of `podman run`: without them it sets limits that a machine may refuse. */
export const runLimits = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'];
export const packageCache = path.join(folder, 'npm');

/**
 * Builds the base images of the project's Dockerfile if they are missing; throws where containers cannot run.
 */
export async function prepareImageStorage(): Promise<string> {
  mkdirSync(packageCache, { recursive: true });
  for (const [target, image] of [
    ['build', buildImage],
    ['run', runImage],
  ] as const) {
    const exists = await run('podman', [...storageFlags, 'image', 'exists', image]).then(
      () => true,
      () => false,
    );
    if (!exists) await makeBaseImages(target, image);
  }
  const flags = ['--runtime', 'runc', ...storageFlags];
  const limits = [...runLimits, '--memory', '256m'];
  const words = ['run', '--rm', '--network', 'host', ...limits, runImage, '/nodejs/bin/node', '--version'];
  await run('podman', [...flags, ...words], { timeout: 60_000 });
  return folder;
}

async function makeBaseImages(target: string, image: string): Promise<void> {
  const work = mkdtempSync(path.join(folder, 'work-'));
  try {
    const root = await debianRoot();
    await run('podman', [...storageFlags, 'import', root, 'localhost/model-router-root'], {
      timeout: 300_000,
    });
    const node = `node-${process.platform}-${process.arch}`;
    const packages = [`${node}@${nodeVersion}`, `npm@${npmVersion}`];
    await run('npm', ['install', '--prefix', work, '--no-save', '--ignore-scripts', ...packages], {
      timeout: 300_000,
    });
    cpSync(path.join(work, 'node_modules', node, 'bin/node'), path.join(work, 'node'));
    renameSync(path.join(work, 'node_modules/npm'), path.join(work, 'npm'));
    // The machine's own certificates, since a proxy between it and the registry may use private ones.
    copyFileSync('/etc/ssl/certs/ca-certificates.crt', path.join(work, 'ca-certificates.crt'));
    const file = path.join(checkout, 'test/harness/image-storage.Containerfile');
    const argument = ['--build-arg', 'ROOT=localhost/model-router-root'];
    await run(
      'buildah',
      [
        ...storageFlags,
        'bud',
        '--isolation',
        'chroot',
        ...argument,
        '--file',
        file,
        '--target',
        target,
        '--tag',
        image,
        work,
      ],
      { timeout: 600_000, maxBuffer: 2 ** 26 },
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The smallest Debian of the machine's own release and sources. */
async function debianRoot(): Promise<string> {
  const file = path.join(folder, 'debian.tar');
  if (existsSync(file)) return file;
  const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].find((each) =>
    existsSync(each),
  );
  const release = /^VERSION_CODENAME=(.+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  if (sources === undefined || release === undefined) throw new Error('this machine does not run Debian');
  const work = `${file}.${process.pid}.tar`;
  const packages = '--include=ca-certificates,libstdc++6';
  await run('mmdebstrap', ['--variant=essential', packages, release, work, sources], { timeout: 600_000 });
  renameSync(work, file);
  return file;
}
